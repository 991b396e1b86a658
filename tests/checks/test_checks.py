"""`./run check` finds the faults that it looks for."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from checks import __main__ as checks, locks, translations

LOCK = """\
django==5.2.19 \\
    --hash=sha256:aaaa
    # via merchant-backoffice (pyproject.toml)
redis==7.4.1 ; python_version >= '3.11' \\
    --hash=sha256:bbbb
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose locks are in order."""
    for lock in locks.LOCKS:
        (tmp_path / lock).write_text(LOCK)
    (tmp_path / "package-lock.json").write_text('{"packages": {"a": {"version": "1.0.0", "integrity": "sha512-x"}}}')
    return tmp_path


def test_locks_in_order_pass(root: Path) -> None:
    assert locks.differing_pins(root) == []
    assert locks.addresses(root) == []


def test_an_address_in_a_lock_is_found_with_its_line(root: Path) -> None:
    for name, line in [
        ("requirements.txt", "--index-url https://packages.example.com/simple"),
        ("requirements-dev.txt", "tool @ https://packages.example.com/tool.whl"),
        ("requirements-node.txt", "--find-links wheels"),
        ("package-lock.json", '"resolved": "https://packages.example.com/a.tgz"'),
    ]:
        before = (root / name).read_text()
        (root / name).write_text(f"{before}\n{line}\n" if name.endswith(".json") else f"{before}{line}\n")

        assert locks.addresses(root) == [f"{name}:{len(before.splitlines()) + 1}: {line}"]

        (root / name).write_text(before)


def test_a_package_tested_in_another_version_is_found(root: Path) -> None:
    (root / locks.DEVELOPMENT).write_text(LOCK.replace("redis==7.4.1", "redis==7.3.0"))

    assert locks.differing_pins(root) == ["redis: 7.4.1 and 7.3.0"]


def test_a_changed_hash_alone_makes_no_lock_stale(root: Path) -> None:
    path = root / locks.RUNTIME
    before = locks.without_hashes(path)

    path.write_text(LOCK.replace("    # via", "    --hash=sha256:cccc\n    # via"))
    assert locks.without_hashes(path) == before

    path.write_text(LOCK.replace("5.2.19", "5.2.20"))
    assert locks.without_hashes(path) != before


def test_empty_and_fuzzy_translations_are_found(tmp_path: Path) -> None:
    po = tmp_path / "django.po"
    po.write_text('msgid "Buy"\nmsgstr "Beli"\n\nmsgid "Sell"\nmsgstr ""\n\n#, fuzzy\nmsgid "Stop"\nmsgstr "Henti"\n')

    assert translations.untranslated(po) == ["django.po:4: not translated: Sell", "django.po:8: fuzzy: Stop"]


@pytest.mark.skipif(not shutil.which("xgettext"), reason="finding the texts in the code takes gettext")
def test_a_text_without_a_translation_is_found(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    skipped = shutil.ignore_patterns(*translations.NOT_OURS, "templates", "migrations", "static")
    shutil.copytree(translations.ROOT, copy, ignore=skipped, symlinks=True)
    (copy / "templates").mkdir()
    (copy / "templates/extra.html").write_text('{% load i18n %}{% trans "Nobody translated this" %}')

    assert "django.po: in the code but not here: Nobody translated this" in translations.missing_and_needless(copy)


def test_one_failing_check_fails_all_and_shows_its_output(tmp_path: Path) -> None:
    # given: the real runner and task list beside a file that ruff refuses
    tasks = tomllib.loads((checks.ROOT / "pyproject.toml").read_text())["tool"]["poe"]["groups"]["checks"]["tasks"]
    assert len(tasks) >= 14
    shutil.copytree(checks.ROOT / "checks", tmp_path / "checks")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.poe.groups.checks.tasks]\n"
        f'lint = {{ cmd = "{sys.executable} -m {tasks["lint"]["cmd"]}", help = "lint" }}\n'
        'fine = { cmd = "true", help = "fine" }\n'
    )
    (tmp_path / "wrong.py").write_text("import undefined_name_1\nundefined_name_2\n")

    # when
    command = [sys.executable, "-m", "checks"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=False)

    # then
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith(("ok", "FAILED"))] == [
        ["FAILED", "lint"],
        ["ok", "fine"],
    ]
    assert "F401" in result.stdout
    assert "undefined_name_2" in result.stdout
