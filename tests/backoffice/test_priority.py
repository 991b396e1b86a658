"""The order in which processes get a busy processor."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.priority import NICENESS
from testing.fleet import Fleet
from testing.sandbox_process import PROJECT, eventually
from tests.conftest import Upstream


@pytest.fixture
def fleet(upstream: Upstream) -> Iterator[Fleet]:
    fleet = Fleet()
    try:
        yield fleet
    finally:
        fleet.kill_all()


def test_the_workers_and_beat_let_the_pages_go_first(fleet: Fleet):
    fleet.start("web", "worker", "background", "beat")

    eventually(
        lambda: [niceness(fleet, name) for name in ("worker", "background", "beat")] == [NICENESS] * 3, within=60
    )

    assert niceness(fleet, "web") == 0
    for name in ("worker", "background", "beat"):
        eventually(lambda name=name: session_niceness(fleet, name) in {NICENESS, None}, within=10)


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not weigh sessions")
def test_the_terminal_of_who_starts_one_by_hand_stays_as_it_is():
    step = f"{sys.executable} -c 'from core.priority import step_back; step_back()' && cat /proc/self/autogroup"

    seen = subprocess.run(
        ["sh", "-c", step], cwd=PROJECT, start_new_session=True, capture_output=True, text=True, check=True
    )

    assert seen.stdout.split()[-1] == "0", seen.stderr


def niceness(fleet: Fleet, name: str) -> int:
    """The niceness of the process's first thread, and of its later ones."""
    return int(psutil.Process(fleet.processes[name].pid).nice())


def session_niceness(fleet: Fleet, name: str) -> int | None:
    """What the kernel weighs the session with; None where it does not weigh sessions."""
    try:
        return int(Path(f"/proc/{fleet.processes[name].pid}/autogroup").read_text().split()[-1])
    except (OSError, IndexError):
        return None
