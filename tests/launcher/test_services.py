"""A process that ends is started again, after longer and longer pauses while it fails."""

import shutil
import sys
from pathlib import Path

import pytest

from launcher import services
from launcher.output import LaunchError
from launcher.processes import Child, ProcessGroup
from launcher.services import Service
from tests.launcher.conftest import wait_until


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock of the services, in seconds; the test moves it."""
    now = [1000.0]
    monkeypatch.setattr(services.time, "monotonic", lambda: now[0])
    return now


def start(group: ProcessGroup, code: str) -> Child:
    """Start a Python that runs this code."""
    return group.start("it", [sys.executable, "-c", code], env={}, cwd=Path("/"))


def pauses(service: Service, group: ProcessGroup, clock: list[float], count: int) -> list[float]:
    """The seconds until the next start, after each of so many ends."""
    seconds = []
    for _ in range(count):
        clock[0] = service.due
        assert service.keep_up(group, lambda _: None)  # started
        if service.child:
            assert wait_until(lambda: not service.child.running())  # type: ignore[union-attr]
            assert service.keep_up(group, lambda _: None)  # the end is noted
        seconds.append(service.due - clock[0])
    return seconds


def test_the_pause_doubles_up_to_a_minute(group: ProcessGroup, clock: list[float]) -> None:
    service = Service("it", lambda: start(group, ""))

    assert pauses(service, group, clock, 9) == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]


def test_before_its_pause_is_over_nothing_is_started(group: ProcessGroup, clock: list[float]) -> None:
    service = Service("it", lambda: start(group, ""))
    pauses(service, group, clock, 3)

    assert not service.keep_up(group, lambda _: None)
    assert service.child is None


def test_who_ran_for_a_minute_starts_again_at_once(group: ProcessGroup, clock: list[float]) -> None:
    service = Service("it", lambda: start(group, ""), failures=7)
    service.child = start(group, "")
    service.child.started -= 61
    assert wait_until(lambda: not service.child.running())  # type: ignore[union-attr]

    service.keep_up(group, lambda _: None)

    assert service.due - clock[0] == 0.5


@pytest.mark.parametrize("fault", [LaunchError("no room"), OSError(28, "No space left on device")])
def test_a_start_that_fails_is_tried_again(fault: Exception, group: ProcessGroup, clock: list[float]) -> None:
    def begin() -> Child:
        raise fault

    lines: list[str] = []
    service = Service("it", begin)

    assert pauses(service, group, clock, 3) == [0.5, 1, 2]
    clock[0] = service.due
    service.keep_up(group, lines.append)
    assert str(fault) in lines[0]


def test_with_a_full_disk_it_says_so_instead_of_what_an_earlier_run_said(
    group: ProcessGroup, clock: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a log that ends with an earlier run, and no room for more
    log = tmp_path / "it.log"
    log.write_text("=== it starts\nof an earlier run\n")
    service = Service("it", lambda: start(group, ""))
    service.child = start(group, "")
    service.child.log = log
    assert wait_until(lambda: not service.child.running())  # type: ignore[union-attr]
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(services.shutil, "disk_usage", lambda _: usage)

    said: list[str] = []
    service.keep_up(group, said.append)

    assert "is full: make room" in said[0]
    assert "of an earlier run" not in said[0]
