"""The launcher's own backups and drills: a fault of their disk is said and noted, and the shop goes on."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from launcher import archiving
from launcher.archiving import FAULT, Nights
from launcher.data_folder import read_json
from launcher.drilling import Months
from launcher.output import Say
from launcher.processes import ProcessGroup
from launcher.project import Project
from tests.launcher.conftest import wait_until

# Longer than a name may be: reading it raises an OSError, as a faulty disk does
UNREADABLE = "x" * 300


def says(look: Callable[[Say], None]) -> str:
    """The first words that looking brings."""
    said: list[str] = []

    def has_said() -> bool:
        look(said.append)
        return bool(said)

    assert wait_until(has_said)
    return said[0]


def test_a_disk_with_a_fault_is_noted_and_the_shop_goes_on(tmp_path: Path, group: ProcessGroup) -> None:
    project = Project(tmp_path, {})
    nights, months = (chore(project, group, tmp_path / UNREADABLE) for chore in (Nights, Months))
    months._drill._look_at = 0.0

    assert "File name too long" in says(nights.look)
    assert "File name too long" in says(months.look)

    assert "File name too long" in read_json(tmp_path / FAULT)["fault"]
    said: list[str] = []
    nights.look(said.append)
    assert said == []  # the next try is later


def test_a_backup_that_cannot_be_started_is_noted(tmp_path: Path, group: ProcessGroup) -> None:
    (tmp_path / "logs").touch()  # its log cannot be made there
    nights = Nights(Project(tmp_path, {}), group, tmp_path / "to here")

    assert "Cannot write" in says(nights.look)

    assert "Cannot write" in read_json(tmp_path / FAULT)["fault"]


def test_a_disk_that_does_not_answer_is_asked_by_another_thread(
    tmp_path: Path, group: ProcessGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking: list[threading.Thread] = []
    monkeypatch.setattr(archiving, "is_due", lambda *_: asking.append(threading.current_thread()))
    nights = Nights(Project(tmp_path, {}), group, tmp_path)

    nights.look(print)

    assert wait_until(lambda: bool(asking))
    assert asking != [threading.main_thread()]
