"""`./run upgrade`: when the new version cannot be prepared, everything is as before."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from launcher import upgrading
from launcher.data_folder import before, held, write_state
from launcher.output import LaunchError
from launcher.postgresql import PostgreSQL
from launcher.processes import ProcessGroup
from launcher.project import Project
from tests.launcher.conftest import wait_until
from tests.launcher.helpers import git, run

# holds the data folder until SIGUSR1, as `./run up` does
SHOP = """
import signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from launcher.data_folder import held
asked = []
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
with held(Path(sys.argv[1])):
    print("holds", flush=True)
    while not asked:
        time.sleep(0.01)
time.sleep(60)
"""

# the new version: it takes SIGUSR1 only after a while, and then holds the data folder until it comes
BEGINNING = """
import os, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from launcher.data_folder import held, write_state
data, asked = Path(sys.argv[1]), []
print("begins", flush=True)
while not (data / "awaited").exists():
    time.sleep(0.01)
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
with held(data):
    write_state(data, {"doing": "starting", "pid": os.getpid()})
    while not asked:
        time.sleep(0.01)
(data / "gave way").touch()
time.sleep(60)
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with version 2 in place of version 1, with packages."""
    root = tmp_path / "checkout"
    packages = (root / ".venv", root / "node_modules")
    for folder in packages:
        folder.mkdir(parents=True)
        (folder / "package").write_text("of version 1")
    git(root, "init", "-q")
    for number in (1, 2):
        (root / "code").write_text(f"version {number}")
        git(root, "add", "code")
        git(root, "commit", "-qm", f"version {number}")
    monkeypatch.setattr(upgrading, "ROOT", root)
    monkeypatch.setattr(upgrading, "PACKAGES", packages)
    return root


@pytest.fixture
def former(tmp_path: Path, checkout: Path) -> Iterator[dict[str, Any]]:
    """The state of the running version 1, whose database is in the data folder."""
    data = tmp_path / "data"
    (data / "postgres/data").mkdir(parents=True)
    (data / "postgres/data/rows").write_text("of version 1")
    (data / "logs").mkdir()
    words = [sys.executable, "-c", SHOP, str(data), str(Path(upgrading.__file__).parents[1])]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as shop:
        assert shop.stdout is not None
        shop.stdout.readline()
        state = {"doing": "serving", "pid": shop.pid, "version": "1", "commit": git(checkout, "rev-parse", "HEAD~1")}
        write_state(data, state)
        yield state
        shop.kill()


def test_what_fails_before_the_start_leaves_everything_as_it_was(
    tmp_path: Path, checkout: Path, former: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # given: a version that installs, changes the tables, and then fails
    data = tmp_path / "data"

    def install(*_: object, **__: object) -> None:
        for folder in upgrading.PACKAGES:
            (folder / "package").unlink()
            (folder / "package").write_text("of version 2")
        (data / "postgres/data/rows").write_text("of version 2")

    def prepare(_self: upgrading.Upgrade) -> None:
        raise LaunchError("It does not load.")

    monkeypatch.setattr(upgrading, "fill_venv", install)
    monkeypatch.setattr(upgrading, "install_front_end", lambda *_, **__: None)
    monkeypatch.setattr(upgrading.Upgrade, "_prepare", prepare)
    upgrade = upgrading.Upgrade(Project(data, {}), ProcessGroup(), print, former)

    with pytest.raises(LaunchError, match="does not load"):
        upgrade.change()

    assert (checkout / "code").read_text() == "version 1"
    assert {(folder / "package").read_text() for folder in upgrading.PACKAGES} == {"of version 1"}
    assert (data / "postgres/data/rows").read_text() == "of version 1"
    assert not list(tmp_path.rglob("*.before*"))
    assert not list(tmp_path.rglob("*.failed"))


def test_a_half_copy_is_never_put_back(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/rows").write_text("all of them")

    with pytest.raises(LaunchError, match="Cannot copy"):
        upgrading.copy(tmp_path / "data", tmp_path / "none" / "data.before", "--link")
    upgrading.restore(tmp_path / "data")

    assert (tmp_path / "data/rows").read_text() == "all of them"


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given: a disk that is full after half of the files
    (tmp_path / "cp").write_text('#!/bin/sh\nfor to; do :; done\n/bin/mkdir "$to"; echo "No space left" >&2; exit 1\n')
    (tmp_path / "cp").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "data").mkdir()

    with pytest.raises(LaunchError, match="No space left"):
        upgrading.copy(tmp_path / "data", tmp_path / "data.before", "--link")

    assert {path.name for path in tmp_path.iterdir()} == {"cp", "data"}


@pytest.mark.usefixtures("checkout")
def test_what_a_killed_upgrade_has_left_is_deleted(tmp_path: Path) -> None:
    home = tmp_path / "postgres"
    for name in ("data", "data.before", "data.before.new", "data.failed"):
        (home / name).mkdir(parents=True)

    upgrading.Upgrade(Project(tmp_path, {}), ProcessGroup(), print, {}).tidy()

    assert [path.name for path in home.iterdir()] == ["data"]


def test_a_kill_while_the_database_is_put_back_leaves_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, remove_whole = "of version 1", "of version 2", shutil.rmtree
    for step in range(4):
        data, steps = tmp_path / str(step) / "data", iter(range(4))
        for folder, written in ((data, new), (before(data), old)):
            folder.mkdir(parents=True)
            for name in ("PG_VERSION", "rows"):
                (folder / name).write_text(written)

        def rename(path: Path, to: Path, steps=steps, step=step) -> None:
            if next(steps) == step:
                raise KeyboardInterrupt
            os.rename(path, to)  # noqa: PTH104 - it stands in for Path.rename

        def remove(path: Path, steps=steps, step=step, **_: object) -> None:
            if next(steps) == step:
                (path / "PG_VERSION").unlink(missing_ok=True)
                raise KeyboardInterrupt
            remove_whole(path, ignore_errors=True)

        # when: the kill comes at any step, in the middle of a deletion
        with monkeypatch.context() as killed:
            killed.setattr(Path, "rename", rename)
            killed.setattr(shutil, "rmtree", remove)
            with pytest.raises(KeyboardInterrupt):
                upgrading.restore(data)

        # then: the database in place is whole, or there is none, and its copy can still take the place
        assert not data.exists() or sorted(file.read_text() for file in data.iterdir()) in ([old, old], [new, new])
        upgrading.restore(data)
        left = sorted((file.name, file.read_text()) for file in data.iterdir())
        assert left == [("PG_VERSION", old), ("rows", old)], step


def test_a_database_that_was_not_put_back_is_no_new_shop(empty: Path, group: ProcessGroup) -> None:
    (empty / "postgres/data.before").mkdir(parents=True)

    with pytest.raises(LaunchError, match=r"rename .*/data\.before to .*/data, "):
        PostgreSQL(empty, group).start()

    assert not (empty / "postgres/data").exists()


def test_changed_tables_stay_once_the_new_version_may_have_sold(
    tmp_path: Path, former: dict[str, Any], checkout: Path
) -> None:
    upgrade = upgrading.Upgrade(Project(tmp_path / "data", {}), ProcessGroup(), print, former)
    upgrade._serves = upgrade._tables_changed = True

    assert "it stays" in upgrade.go_back()
    assert (checkout / "code").read_text() == "version 2"


def test_a_new_version_that_has_only_just_begun_is_not_killed(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given: an upgrade that is interrupted before the new version has begun to take signals
    data = tmp_path / "data"
    (data / "logs").mkdir(parents=True)

    class Waiting(ProcessGroup):
        def pause(self, seconds: float) -> None:
            (data / "awaited").touch()
            super().pause(seconds)

    monkeypatch.setattr(upgrading, "is_ready", lambda _state: True)
    words = [sys.executable, "-c", BEGINNING, str(data), str(Path(upgrading.__file__).parents[1])]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as shop:
        assert shop.stdout is not None
        shop.stdout.readline()
        former = {"pid": shop.pid, "version": "1", "commit": git(checkout, "rev-parse", "HEAD~1")}
        upgrade = upgrading.Upgrade(Project(data, {}), Waiting(), print, former)
        upgrade._serves = True

        said = upgrade.go_back()

        # then: it has stopped in order, and can become the former version
        assert said == "Version 1 runs again."
        assert wait_until((data / "gave way").exists)
        assert shop.poll() is None
        assert (checkout / "code").read_text() == "version 1"
        shop.kill()


def test_without_a_running_shop_there_is_nothing_to_upgrade(tmp_path: Path) -> None:
    result = run("upgrade", data=tmp_path)

    assert result.returncode == 1
    assert "No ./run up with all roles serves" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_shop_of_somebody_else_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)

    with held(tmp_path):
        write_state(tmp_path, {"doing": "serving", "pid": os.getpid()})
        with pytest.raises(LaunchError, match=r"call \./run upgrade as"):
            upgrading.running_shop(Project(tmp_path, {}))


@pytest.mark.usefixtures("former")
def test_a_folder_that_somebody_else_installs_is_refused_before_the_shop_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrading, "read_project", lambda: Project(tmp_path / "data", {}))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    changed: list[upgrading.Upgrade] = []
    monkeypatch.setattr(upgrading.Upgrade, "change", changed.append)

    with pytest.raises(LaunchError, match=r"belongs to .* let .* call \./run install"):
        upgrading.run(ProcessGroup(), print, argparse.Namespace())

    assert changed == []


def test_without_git_the_packages_are_put_back_and_it_says_so(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    venv = upgrading.PACKAGES[0]
    upgrading.copy(venv, before(venv), "--link")
    (venv / "package").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    former = {"version": "1", "commit": upgrading.commit()}

    upgrading.Upgrade(Project(tmp_path / "data", {}), ProcessGroup(), said.append, former)._put_back(venv)

    assert (venv / "package").read_text() == "of version 1"
    assert "Put version 1 in place again: git cannot." in said[0]


def test_a_version_that_does_not_stop_finds_its_own_code_again_when_it_does(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    monkeypatch.setattr(upgrading, "STOP_SECONDS", 0.2)
    monkeypatch.setattr(os, "kill", lambda *_: None)  # it is busy, and takes the signal later
    former = {"pid": os.getpid(), "version": "1", "commit": git(checkout, "rev-parse", "HEAD~1")}

    with held(tmp_path), pytest.raises(LaunchError, match="does not stop"):
        upgrading.Upgrade(Project(tmp_path, {}), ProcessGroup(), print, former).change()

    assert (checkout / "code").read_text() == "version 1"


def test_it_names_the_version_that_runs_where_git_put_nothing_back(
    tmp_path: Path, former: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_state(tmp_path / "data", {**former, "version": "2"})
    monkeypatch.setattr(upgrading, "is_ready", lambda _state: True)

    said = upgrading.Upgrade(Project(tmp_path / "data", {}), ProcessGroup(), print, former).go_back()

    assert said == "Version 2 runs again."


def test_the_commit_of_a_folder_of_somebody_else_is_known(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    # given: a folder that git takes for another user's
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    assert upgrading.commit() == head
