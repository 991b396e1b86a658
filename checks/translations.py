"""Checks that every text of the pages and messages is translated; prints a line for each that is not, exit code 1."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.catalog import Message
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
NOT_OURS = (".*", "node_modules", "staticfiles", "tests", "testing", "benchmarks", "__pycache__", "docs")
# the sandbox speaks English only
MAKE_MESSAGES = ("manage.py", "makemessages", "--all", "--no-obsolete", "--ignore=sandbox/*")


def entries(po: Path) -> list[Message]:
    """The entries of a .po file, without its header."""
    with po.open("rb") as file:
        return [entry for entry in read_po(file) if entry.id]


def untranslated(po: Path) -> list[str]:
    """The entries that are empty or fuzzy."""
    wrong = []
    for entry in entries(po):
        strings = entry.string if isinstance(entry.string, list | tuple) else [entry.string]
        if entry.fuzzy or not all(strings):
            wrong.append(f"{po.name}:{entry.lineno}: {'fuzzy' if entry.fuzzy else 'not translated'}: {entry.id}")
    return wrong


def missing_and_needless(root: Path) -> list[str]:
    """Texts that the code marks and a .po file lacks, and the reverse; it works on a copy of the project."""

    def texts(po: Path) -> set[tuple[str, str]]:
        return {(entry.context or "", entry.id if isinstance(entry.id, str) else entry.id[0]) for entry in entries(po)}

    problems = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*NOT_OURS), symlinks=True)
        subprocess.run([sys.executable, *MAKE_MESSAGES], cwd=copy, stdout=subprocess.DEVNULL, check=True)
        for po in all_po(root):
            kept, marked = texts(po), texts(copy / po.relative_to(root))
            problems += [f"{po.name}: in the code but not here: {text}" for _, text in sorted(marked - kept)]
            problems += [f"{po.name}: here but no longer in the code: {text}" for _, text in sorted(kept - marked)]
    return problems


def all_po(root: Path) -> list[Path]:
    """The .po file of each language."""
    return sorted((root / "locale").glob("*/LC_MESSAGES/*.po"))


def main(root: Path = ROOT) -> int:
    """Print each fault; 1 if there is any. Without gettext (`.ci/run` installs it) the code is not searched."""
    wrong = [problem for po in all_po(root) for problem in untranslated(po)]
    if shutil.which("xgettext"):
        wrong += missing_and_needless(root)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
