"""A migration and a proof of millions of rows may take hours: the launcher waits for them."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from launcher import processes
from launcher.processes import Child, ProcessGroup
from launcher.project import Project
from launcher.stack import Stack
from launcher.upgrading import Upgrade

# Ends once the file that it is given exists
WORK = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)"
HOUR = 3600.0


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command that takes an hour, by a clock that moves a minute while the launcher sleeps."""
    now = [0.0]
    done = tmp_path / "done"

    def sleep(_seconds: float) -> None:
        now[0] += 60
        if now[0] >= HOUR:
            done.touch()
        time.sleep(0.01)

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep, time=time.time, strftime=time.strftime)
    monkeypatch.setattr(processes, "time", clock)
    return [sys.executable, "-c", WORK, str(done)]


@pytest.mark.parametrize(
    "finish",
    [
        lambda stack, child: stack.finish_preparing(child),
        lambda stack, child: stack.finish(child, "What was restored is not whole."),
    ],
    ids=["migration", "proof"],
)
def test_an_hour_of_work_is_waited_for(
    tmp_path: Path, group: ProcessGroup, words: list[str], finish: Callable[[Stack, Child], None]
) -> None:
    stack = Stack(Project(tmp_path, {}), group)
    child = group.start("work", words, env=os.environ, cwd=tmp_path, log=tmp_path / "work.log")

    finish(stack, child)

    assert child.process.returncode == 0


def test_an_upgrade_waits_for_an_hour_of_work(tmp_path: Path, group: ProcessGroup, words: list[str]) -> None:
    upgrade = Upgrade(Project(tmp_path, {}), group, print, {})

    upgrade._call(*words)

    assert (tmp_path / "done").exists()
