"""`./run` in a new checkout makes the parts of an interrupted installation again."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from launcher import ROOT, installing
from launcher.processes import ProcessGroup


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that `./run` reads before anything is installed."""
    locks = [path.name for path in ROOT.glob("requirements*.txt")]
    for name in ("pyproject.toml", *locks, "package-lock.json", "run"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "launcher", tmp_path / "launcher", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def start(checkout: Path, *words: str, as_whom: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    """Call `./run` there, without a package index."""
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    environment.pop("PIP_FIND_LINKS", None)
    command = [*as_whom, getattr(sys, "_base_executable", sys.executable), str(checkout / "run"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def start_without_rights(checkout: Path) -> "subprocess.CompletedProcess[str]":
    """Call `./run` there, by a user with only the rights of the files' modes, also if the tests run as root."""
    return start(checkout, as_whom=["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else [])


def test_the_first_imports_need_the_standard_library_only() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import launcher.commands"

    assert subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False).returncode == 0


def test_an_interrupted_venv_is_made_again_a_whole_one_kept(checkout: Path) -> None:
    # given: Ctrl-C came when .venv had its Python but no pip yet
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to(sys.executable)

    # when
    first = start(checkout)

    # then: .venv was made to its end, and only the packages are missing
    assert first.returncode == 1
    assert (checkout / ".venv/bin/pip").exists()
    assert "requirements.txt" in first.stderr
    assert "No module named pip" not in first.stderr

    # when: the next start gets no further, it does not make .venv again
    made = (checkout / ".venv/bin/pip").stat().st_ino
    second = start(checkout)

    # then
    assert second.returncode == 1
    assert (checkout / ".venv/bin/pip").stat().st_ino == made


def test_after_the_system_got_a_newer_python_the_venv_is_made_again(checkout: Path) -> None:
    # given: a whole .venv, whose Python is another one than the one with the packages
    made = [getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--without-pip", checkout / ".venv"]
    subprocess.run(made, check=True)
    (packages,) = (checkout / ".venv/lib").iterdir()
    packages.rename(packages.with_name("python3.0"))
    locks = {lock: installing.digest(lock) for lock in (installing.RUNTIME, "package-lock.json")}
    installing.write_mark(checkout / ".venv/installed.json", locks)
    (checkout / "node_modules").mkdir()
    mark = {"lock": locks["package-lock.json"], "development": False}
    installing.write_mark(checkout / "node_modules/.installed.json", mark)

    result = start(checkout)

    assert "Traceback" not in result.stderr
    assert "requirements.txt" in result.stderr
    assert (checkout / ".venv/bin/pip").exists()


def test_an_old_python_is_refused_in_one_sentence(checkout: Path) -> None:
    # given: the lines of ./run that an older Python reads first
    text = (checkout / "run").read_text().replace("sys.version_info < (3, 11)", "True").replace('"python3.', '"none3.')
    (checkout / "run").write_text(text)

    result = start(checkout)

    assert result.returncode == 1
    assert "3.11" in result.stderr
    assert "Traceback" not in result.stderr


def test_every_user_may_read_what_is_installed(tmp_path: Path) -> None:
    installing.write_mark(tmp_path / "mark", {"lock": "hash"})

    assert (tmp_path / "mark").stat().st_mode & 0o777 == 0o644


def test_the_translations_are_compiled_beside_the_settings_of_a_real_shop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_BASE_URL", "https://upstream.example.com")

    installing.compile_translations(ProcessGroup())


def test_a_mark_that_may_not_be_read_is_a_sentence_and_installs_nothing(checkout: Path) -> None:
    # given: another user has installed, with a mark that nobody else may read
    mark = checkout / ".venv/installed.json"
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to(sys.executable)
    mark.write_text("{}")
    mark.chmod(0)

    result = start_without_rights(checkout)

    assert result.returncode == 1
    assert f"You may not read {mark}" in result.stderr
    assert "Installing" not in result.stdout


def test_an_incomplete_venv_of_somebody_else_is_a_sentence(checkout: Path) -> None:
    venv = checkout / ".venv"
    venv.mkdir(mode=0o555)

    result = start_without_rights(checkout)

    assert result.returncode == 1
    assert "call ./run install" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_python_that_only_the_installer_may_run_is_a_sentence(checkout: Path) -> None:
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to("/root-of-nobody/python")
    (checkout / ".venv/installed.json").write_text("{}")
    (checkout / ".venv").chmod(0o555)

    result = start_without_rights(checkout)

    assert result.returncode == 1
    assert "You may not run /root-of-nobody/python" in result.stderr


def test_a_service_of_root_is_refused_before_anything_is_installed(checkout: Path) -> None:
    result = start(checkout, "service", "install", "--user", "root")

    assert result.returncode == 1
    assert "need no root" in result.stderr
    assert not (checkout / ".venv").exists()
