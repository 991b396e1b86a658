"""docs/upstream-api.md names places that exist."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_every_file_that_the_document_names_exists() -> None:
    text = (PROJECT / "docs/upstream-api.md").read_text()
    named = set(re.findall(r"`((?:tests|upstream)/[\w/.]+)`", text))

    assert len(named) > 20
    assert {name for name in named if not (PROJECT / name).exists()} == set()
