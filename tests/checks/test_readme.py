"""The README begins with few commands, and all pages name only commands that exist."""

import re
from pathlib import Path

from django.core.management import get_commands

from launcher.commands import MODULES, TASKS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def commands_in(path: Path) -> set[str]:
    """`./run WORD`, or `./run manage WORD`, as the page writes them in code."""
    return set(re.findall(r"(?:`|^ {4})(\./run(?: manage)?(?: [a-z_]+)?)", path.read_text(), flags=re.MULTILINE))


def test_readme_has_at_most_12_commands_the_same_in_both_languages():
    english, indonesian = commands_in(ROOT / "README.md"), commands_in(ROOT / "README.id.md")

    assert english == indonesian
    assert len(english) <= 12


def test_each_command_of_a_page_exists():
    for page in PAGES:
        words = [command.split() for command in commands_in(page)]

        managed = {each[2] for each in words if each[1:2] == ["manage"] and each[2:]}
        assert managed <= set(get_commands()), page.name
        assert {each[1] for each in words if each[1:]} <= {*MODULES, *TASKS, "install"}, page.name
