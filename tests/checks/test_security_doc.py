"""docs/security.md names the tests that hold its promises: each must be there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/security.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)))
FINDINGS = [*(f"H{n}" for n in range(1, 5)), *(f"M{n}" for n in range(1, 8)), *(f"L{n}" for n in range(1, 11))]


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_holds_a_promise_is_there(file: str, name: str) -> None:
    path = ROOT / "tests" / file

    assert path.is_file(), f"docs/security.md names {file}: has it moved?"
    assert re.search(rf"^ *def {name}\(", path.read_text(), re.MULTILINE), f"{file} has no {name}: name its successor"


@pytest.mark.parametrize("finding", FINDINGS)
def test_each_finding_has_a_promise(finding: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and re.search(rf"\b{finding}\b", line)]

    assert any("::test_" in row for row in rows), finding


def test_each_promise_has_a_test() -> None:
    tables = PAGE.partition("## Promises")[2].partition("## Changing")[0]
    promises = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| promise")]

    assert len(promises) > 25
    assert not [line for line in promises if "::test_" not in line]
