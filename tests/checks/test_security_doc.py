"""docs/security.md names the tests that prove its promises: each must exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/security.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)))


def test_each_test_that_holds_a_promise_is_there() -> None:
    files = {file: ROOT / "tests" / file for file, _name in NAMED}
    tests = {file: path.read_text() if path.is_file() else "" for file, path in files.items()}

    assert len(NAMED) > 100
    assert [file for file, text in tests.items() if not text] == [], "have they moved?"
    gone = [f"{file}::{name}" for file, name in NAMED if not re.search(rf"(?m)^ *def {name}\(", tests[file])]
    assert gone == [], "name their successors"


def test_each_chapter_of_asvs_has_a_row_with_tests() -> None:
    for chapter in range(1, 18):
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| V{chapter} ")]

        assert "::test_" in row or "does not apply" in row, chapter


def test_each_promise_has_a_test() -> None:
    tables = PAGE.partition("## Promises")[2].partition("## OWASP")[0]
    promises = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| promise")]

    assert len(promises) > 25
    assert not [line for line in promises if "::test_" not in line]
