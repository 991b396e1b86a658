"""Whether every text of the pages and messages is translated; part of `./run check`."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from backoffice.launcher.project import Project

NOT_OURS = (".*", "node_modules", "staticfiles", "tests", "benchmarks", "__pycache__", "docs")


def untranslated(project: Project, environment: Mapping[str, str]) -> str | None:
    """None when every .po holds every text that the code marks, each translated and none fuzzy; else what is wrong.

    Finding the texts in the code takes gettext (`.ci/run` installs it); without it only the .po files are looked at.
    """
    sources = sorted((project.root / "locale").glob("*/LC_MESSAGES/*.po"))
    if not sources:
        return "There is no locale/<language>/LC_MESSAGES/django.po."
    wrong = [problem for source in sources for problem in unfinished(source, project.root)]
    if shutil.which("xgettext"):
        wrong += missing_texts(project, sources, environment)
    return "\n".join(wrong) or None


def unfinished(source: Path, root: Path) -> list[str]:
    """The entries of a .po file that are empty or fuzzy."""
    from babel.messages.pofile import read_po

    with source.open("rb") as file:
        entries = [entry for entry in read_po(file) if entry.id]
    empty = [
        entry
        for entry in entries
        if not all(entry.string if isinstance(entry.string, list | tuple) else [entry.string])
    ]
    name = source.relative_to(root)
    problems = [f"{name}:{entry.lineno}: not translated: {entry.id}" for entry in empty]
    return problems + [f"{name}:{entry.lineno}: fuzzy: {entry.id}" for entry in entries if entry.fuzzy]


def texts(source: Path) -> set[tuple[str, str]]:
    """(context, text) of every entry of a .po file."""
    from babel.messages.pofile import read_po

    with source.open("rb") as file:
        return {
            (entry.context or "", entry.id if isinstance(entry.id, str) else entry.id[0])
            for entry in read_po(file)
            if entry.id
        }


def missing_texts(project: Project, sources: list[Path], environment: Mapping[str, str]) -> list[str]:
    """Texts that the code marks and a .po file lacks, and the other way round; found in a copy of the project."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(project.root, copy, ignore=shutil.ignore_patterns(*NOT_OURS), symlinks=True)
        # the sandbox speaks English only
        command: list[str | Path] = [
            project.python,
            "manage.py",
            "makemessages",
            "--all",
            "--no-obsolete",
            "--ignore=sandbox/*",
        ]
        result = subprocess.run(
            command, cwd=copy, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            return [result.stdout + result.stderr]
        problems = []
        for source in sources:
            name = source.relative_to(project.root)
            kept, marked = texts(source), texts(copy / name)
            problems += [f"{name}: in the code but not here: {text}" for _, text in sorted(marked - kept)]
            problems += [f"{name}: here but no longer in the code: {text}" for _, text in sorted(kept - marked)]
        return problems
