"""A data folder that PostgreSQL's unprivileged user can reach, and keepers whose end is certain."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backoffice.launcher.processes import alive
from backoffice.launcher.status import children_of_all

KEEPER = Path(__file__).with_name("keeper.py")


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty data folder whose path has a space, deleted with all that a test left in it."""
    top = Path(tempfile.mkdtemp(prefix="launcher-test-"))
    top.chmod(0o711)
    data = top / "data folder"
    data.mkdir(mode=0o711)
    yield data
    if (data / "postgres").is_symlink():
        shutil.rmtree((data / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(top, ignore_errors=True)


@dataclass
class Keeper:
    """A running `keeper.py`: its own pid and what it said about its children."""

    process: "subprocess.Popen[str]"
    said: dict[str, Any] = field(default_factory=dict)

    def everyone(self) -> list[int]:
        """The keeper, its guardian, its children and theirs."""
        children = children_of_all()
        family = [self.process.pid]
        for member in family:
            family += children.get(member, [])
        return family

    def hear(self) -> dict[str, Any]:
        """The next thing it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the keeper ended without a word"
        return dict(json.loads(line))

    def stop(self) -> None:
        """Ask it to end in order."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def wait_until(condition: Callable[[], bool], *, seconds: float = 10.0) -> bool:
    """Whether the condition became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def all_gone(pids: list[int]) -> bool:
    """Whether none of these processes lives."""
    return not any(alive(pid) for pid in pids)


@pytest.fixture
def keep(folder: Path) -> Iterator[Callable[[], Keeper]]:
    """A function that starts a keeper on the folder and returns it when its stores answer."""
    keepers: list[Keeper] = []

    def start() -> Keeper:
        process = subprocess.Popen([sys.executable, str(KEEPER), str(folder)], stdout=subprocess.PIPE, text=True)
        keeper = Keeper(process)
        keepers.append(keeper)
        keeper.said = keeper.hear()
        return keeper

    yield start
    for keeper in keepers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper.process.pid, signal.SIGTERM)
        keeper.process.wait(20)
        if keeper.process.stdout:
            keeper.process.stdout.close()
    assert wait_until(lambda: all_gone([pid for keeper in keepers for pid in keeper.said.get("children", [])]))


@contextlib.contextmanager
def occupied_port() -> Iterator[int]:
    """A port of 127.0.0.1 that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])
