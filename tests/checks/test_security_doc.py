"""docs/security.md names the tests that hold its promises: each must be there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/security.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_holds_a_promise_is_there(file: str, name: str) -> None:
    path = ROOT / "tests" / file

    assert path.is_file(), f"docs/security.md names {file}: has it moved?"
    assert re.search(rf"^ *def {name}\(", path.read_text(), re.MULTILINE), f"{file} has no {name}: name its successor"


@pytest.mark.parametrize("chapter", range(1, 18))
def test_each_chapter_of_asvs_has_a_row_with_tests(chapter: int) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| V{chapter} ")]

    assert "::test_" in row or "does not apply" in row


def test_each_promise_has_a_test() -> None:
    tables = PAGE.partition("## Promises")[2].partition("## OWASP")[0]
    promises = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| promise")]

    assert len(promises) > 25
    assert not [line for line in promises if "::test_" not in line]
