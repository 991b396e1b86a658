"""Every setting is described once: those that most shops need in `.env.example`, the others in docs/settings.md."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Settings that ./run itself makes for its processes
OF_THE_LAUNCHER = {
    "BACKOFFICE_SANDBOX",
    "SANDBOX_URL",
    "SANDBOX_DASHBOARD_URL",
    "DATABASE_AS_OWNER",
    "FIRST_KEY_DIGEST",
}


def test_the_example_is_short_and_with_the_docs_it_names_every_setting():
    example = re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    others = re.findall(r"`([A-Z][A-Z_]+[A-Z])`", (ROOT / "docs/settings.md").read_text())
    code = (ROOT / "backoffice/settings.py").read_text()
    read = set(re.findall(r'\benv\.\w+\("([A-Z_]+)"', code))

    assert len(example) == len(set(example)) <= 25
    assert read - OF_THE_LAUNCHER <= {*example, *others}
    assert not set(example) & set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
