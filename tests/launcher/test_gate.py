"""`./run check` sees what it is there to see."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from backoffice.launcher import gate
from backoffice.launcher.project import Project, read_project
from backoffice.launcher.translations import unfinished, untranslated

LOCK = """\
django==5.2.19 \\
    --hash=sha256:aaaa
    # via -r requirements.in
redis==7.4.1 ; python_version >= '3.11' \\
    --hash=sha256:bbbb
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with locks that are in order."""
    for lock in gate.LOCKS:
        (tmp_path / lock).write_text(LOCK)
    (tmp_path / "package-lock.json").write_text('{"packages": {"a": {"version": "1.0.0", "integrity": "sha512-x"}}}')
    return dataclasses.replace(read_project(), root=tmp_path)


def test_locks_in_order_pass(project: Project) -> None:
    assert gate.differing_pins(project) is None
    assert gate.addresses(project) is None


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("requirements.txt", "--index-url https://packages.example.com/simple\n"),
        ("requirements-dev.txt", "tool @ https://packages.example.com/tool.whl\n"),
        ("requirements-node.txt", "--find-links wheels\n"),
        ("package-lock.json", '"resolved": "https://packages.example.com/a.tgz"\n'),
    ],
)
def test_an_address_in_any_lock_is_named_with_its_line(project: Project, name: str, line: str) -> None:
    with (project.root / name).open("a") as file:
        file.write(f"\n{line}")

    assert line.strip() in (gate.addresses(project) or "")
    assert (gate.addresses(project) or "").startswith(f"{name}:")


def test_another_version_in_the_development_lock_is_named(project: Project) -> None:
    (project.root / "requirements-dev.txt").write_text(LOCK.replace("redis==7.4.1", "redis==7.3.0"))

    assert gate.differing_pins(project) == "redis: 7.4.1 and 7.3.0"


def test_only_a_changed_hash_does_not_make_a_lock_stale(project: Project) -> None:
    path = project.root / "requirements.txt"
    before = gate.without_hashes(path)

    path.write_text(LOCK.replace("    # via", "    --hash=sha256:cccc\n    # via"))
    assert gate.without_hashes(path) == before

    path.write_text(LOCK.replace("5.2.19", "5.2.20"))
    assert gate.without_hashes(path) != before


def test_empty_and_fuzzy_translations_are_named(tmp_path: Path) -> None:
    po = tmp_path / "django.po"
    po.write_text('msgid "Buy"\nmsgstr "Beli"\n\nmsgid "Sell"\nmsgstr ""\n\n#, fuzzy\nmsgid "Stop"\nmsgstr "Henti"\n')

    assert unfinished(po, tmp_path) == ["django.po:4: not translated: Sell", "django.po:8: fuzzy: Stop"]


@pytest.mark.skipif(not shutil.which("xgettext"), reason="finding the texts in the code takes gettext")
def test_a_text_that_the_code_marks_and_no_translation_has_is_named(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    skipped = shutil.ignore_patterns(".*", "node_modules", "tests", "__pycache__")
    shutil.copytree(read_project().root, copy, ignore=skipped, symlinks=True)
    (copy / "templates/extra.html").write_text('{% load i18n %}{% trans "A text nobody has translated" %}')
    project = dataclasses.replace(read_project(), root=copy)
    # the copy has no environment of its own
    (copy / ".venv").symlink_to(read_project().venv)

    wrong = untranslated(project, gate.PRODUCTION) or ""

    assert "in the code but not here: A text nobody has translated" in wrong
