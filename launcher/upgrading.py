"""`./run upgrade`: replaces the running version by the one that lies here; goes back if the new one cannot start.

A running `./run up` goes on with the code that it has loaded. On SIGUSR1 it stops everything, waits until nobody holds
the upgrade lock, and then runs the code that lies here, in the same process, so that systemd sees no end.
"""

import argparse
import contextlib
import http.client
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from launcher import PYTHON, ROOT, VENV, version
from launcher.accounts import owner
from launcher.data_folder import DataFolderInUseError, before, held, read_state, serving_state
from launcher.installing import NODE_MARK, RUNTIME, fill_venv, install_front_end, locked
from launcher.output import LaunchError, Say, last_lines
from launcher.process_table import alive
from launcher.processes import Interrupted, ProcessGroup
from launcher.project import Project, read_project
from launcher.stack import LONGEST_WORK_SECONDS

STOP_SECONDS, START_SECONDS, READY_SECONDS = 60.0, 240.0, 90.0
PACKAGES = (VENV, NODE_MARK.parent)
TABLES_CHANGED = "tables changed"  # a line of `prepare_app`
LOAD = (
    "import django; django.setup(); from backoffice.starting import load_everything; "  # it does not use the database
    "load_everything()"
)


def run(group: ProcessGroup, say: Say, _options: argparse.Namespace) -> int:
    """Upgrade; 0 when the new version serves and is ready, LaunchError when the former one runs again."""
    project = read_project()
    former = running_shop(project)
    if former["commit"] and (former["version"], former["commit"]) == (version(), commit()):
        say(f"Version {version()} runs already: put the new one in place first (git checkout), then call this again.")
        return 0
    require_own_folder()
    upgrade = Upgrade(project, group, say, former)
    try:
        upgrade.change()
        upgrade.await_ready()
    except (LaunchError, Interrupted) as fault:
        group.interruptions = 0
        raise LaunchError(f"{fault or 'It was interrupted.'}\n\n{upgrade.go_back()}") from fault
    upgrade.tidy()
    say(f"Version {version()} runs, and /readyz says that everything is there")
    return 0


def running_shop(project: Project) -> dict[str, Any]:
    """The state of this data folder's `./run up`; LaunchError when none serves, or another user's does."""
    state = serving_state(project.data)
    if not state:
        raise LaunchError(
            f"No ./run up with all roles serves on the data folder {project.data}: ./run starts the version that lies "
            "here, and brings the database up to date. For roles by themselves: docs/deployment.md."
        )
    process = Path(f"/proc/{state['pid']}")
    if process.stat().st_uid != os.geteuid():
        raise LaunchError(f"The running ./run is not yours: call ./run upgrade as {owner(process)}.")
    return state


def require_own_folder() -> None:
    """LaunchError when this user may not install here, so that no shop stops for an upgrade that must fail."""
    if not os.access(ROOT, os.W_OK | os.X_OK):
        raise LaunchError(
            f"{ROOT} belongs to {owner(ROOT)}, so that you cannot upgrade it. Make a backup and stop ./run, let "
            f"{owner(ROOT)} call ./run install, and start ./run again: it brings the database up to date."
        )


def commit() -> str:
    """The commit that lies here; empty without git or without a repository."""
    return git("rev-parse", "HEAD").stdout.strip()


def git(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run git in this folder, even if it belongs to another user: we run its code anyway."""
    command = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def upgrade_lock(data: Path) -> Path:
    """The folder that `./run upgrade` locks while it changes what lies here."""
    return data / "logs"


class Upgrade:
    """One upgrade of a running shop. `former`: the state of its launcher before."""

    def __init__(self, project: Project, group: ProcessGroup, say: Say, former: dict[str, Any]) -> None:
        self._project = project
        self._group = group
        self._say = say
        self._former = former
        self._serves = False  # whether the new version has been allowed to start
        self._tables_changed = False
        home = project.data / "postgres"
        self._databases = () if "DATABASE_URL" in project.given else (home.resolve() / "data",)
        self._log = project.data / "logs/upgrade.log"

    def change(self) -> None:
        """Stop the shop, change everything, let it start. When that fails, put all back and raise LaunchError."""
        self._say(f"Stopping version {self._former['version']}")
        self.tidy()  # left from an upgrade that was killed
        with locked(upgrade_lock(self._project.data), self._group):
            os.kill(self._former["pid"], signal.SIGUSR1)
            try:
                with self._folder():
                    self._copy()
                fill_venv(self._group, self._say, lock=RUNTIME)
                install_front_end(self._group, self._say, development=False)
                self._prepare()
            except (LaunchError, Interrupted):
                self._group.interruptions = 0
                self._put_back(*PACKAGES, *self._databases)  # nobody has sold since
                raise
        self._serves = True

    def _copy(self) -> None:
        for packages in PACKAGES:
            copy(packages, before(packages), "--link")
        for database in self._databases:
            self._say("Copying the database")
            require_room(database)
            copy(database, before(database), "--reflink=auto")

    def _prepare(self) -> None:
        self._say(f"Preparing version {version()}")
        any_key = {"SECRET_KEY": secrets.token_hex(32), "DJANGO_SETTINGS_MODULE": "backoffice.settings"}
        self._call(PYTHON, "-c", LOAD, **any_key)
        self._call(PYTHON, ROOT / "run", "manage", "prepare_app")
        self._tables_changed = TABLES_CHANGED in last_lines(self._log, 50)

    def await_ready(self) -> None:
        """Wait until the new version serves and is ready; LaunchError when it does not."""
        self._say(f"Starting version {version()}")
        self._wait(START_SECONDS, "It did not start", lambda: self._state().get("doing") == "serving")
        self._wait(READY_SECONDS, "/readyz does not say that everything is there", lambda: is_ready(self._state()))

    def go_back(self) -> str:
        """Run the former version again, if that loses nothing; returns words for what happened."""
        former = self._former["version"]
        if self._serves:
            if self._tables_changed:
                return (
                    f"Version {version()} has changed the tables, and the shop may have sold since, so it stays. "
                    "./run doctor says what is wrong."
                )
            self._await_begun()
            with locked(upgrade_lock(self._project.data), self._group):
                if alive(self._former["pid"]):
                    os.kill(self._former["pid"], signal.SIGUSR1)
                self._put_back(*PACKAGES)
        try:
            self._wait(START_SECONDS, "", lambda: is_ready(self._state()))
        except LaunchError:
            return f"Version {former} is in place again, but does not run: ./run status, ./run doctor."
        return f"Version {self._state().get('version', former)} runs again."

    def _await_begun(self) -> None:
        """Wait until the new version has written its state: SIGUSR1 kills a launcher that has only just begun."""
        pid, deadline = self._former["pid"], time.monotonic() + STOP_SECONDS
        while alive(pid) and self._state().get("pid") != pid and time.monotonic() < deadline:
            self._group.pause(0.1)

    def _put_back(self, *paths: Path) -> None:
        if any(before(path).exists() for path in paths):  # none if the former version has not stopped
            with self._folder():
                for path in paths:
                    restore(path)
        result = git("checkout", "--quiet", self._former["commit"])
        if not self._former["commit"] or result.returncode != 0:
            self._say(f"Put version {self._former['version']} in place again: git cannot. {result.stderr.strip()}")

    def tidy(self) -> None:
        """Delete the copies, so that nobody puts back a database without the latest sales."""
        for path in (*PACKAGES, *self._databases):
            for left in (before(path), draft_of(before(path)), failed(path)):
                shutil.rmtree(left, ignore_errors=True)

    def _state(self) -> dict[str, Any]:
        return read_state(self._project.data)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[None]:
        """Hold the data folder as soon as the launcher releases it; LaunchError after `STOP_SECONDS`."""
        deadline = time.monotonic() + STOP_SECONDS
        while True:
            try:
                with held(self._project.data):
                    yield
                return
            except DataFolderInUseError as error:
                if time.monotonic() > deadline:
                    raise LaunchError("The running version does not stop.") from error
                self._group.pause(0.1)

    def _call(self, *words: str | Path, **environment: str) -> None:
        step = self._group.start("upgrade", words, env={**os.environ, **environment}, cwd=ROOT, log=self._log)
        if self._group.finish(step, seconds=LONGEST_WORK_SECONDS) != 0:
            raise LaunchError("This version cannot be prepared.", log=self._log)

    def _wait(self, seconds: float, otherwise: str, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > deadline or not alive(self._former["pid"]):
                raise LaunchError(f"{otherwise}.")
            self._group.pause(0.2)


def failed(path: Path) -> Path:
    """The path of this folder while its copy from before the upgrade takes its place."""
    return path.with_name(f"{path.name}.failed")


def draft_of(copied: Path) -> Path:
    """The path of this copy while it is made."""
    return copied.with_name(f"{copied.name}.new")


def copy(path: Path, to: Path, how: str) -> None:
    """Copy a folder with owners and times, whole or not at all; LaunchError when that fails."""
    draft = draft_of(to)
    shutil.rmtree(draft, ignore_errors=True)
    result = subprocess.run(["cp", "--archive", how, path, draft], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)  # it may have filled the disk
        raise LaunchError(f"Cannot copy {path}: {result.stderr.strip()}")
    draft.rename(to)


def restore(path: Path) -> None:
    """Put the copy back in place, if there is one. A kill at any point leaves no half folder in its place."""
    if before(path).exists():
        shutil.rmtree(failed(path), ignore_errors=True)
        if path.exists():
            path.rename(failed(path))
        before(path).rename(path)
        shutil.rmtree(failed(path), ignore_errors=True)


def require_room(database: Path) -> None:
    """LaunchError without enough room for a copy beside the database."""
    needed = sum(file.lstat().st_size for file in database.rglob("*"))
    if (free := shutil.disk_usage(database).free) < 1.2 * needed:
        raise LaunchError(
            f"The copy of the database needs {needed // 1_000_000} MB, and only {free // 1_000_000} MB are free beside "
            f"{database}: make room."
        )


def is_ready(state: dict[str, Any]) -> bool:
    """Whether the launcher serves and its /readyz answers 200."""
    if state.get("doing") != "serving":
        return False
    host, port = state["listens"]
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
