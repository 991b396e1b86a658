"""The launcher's own backups and drills: a fault of their disk is said and noted, and the shop goes on."""

import datetime as dt
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from launcher import archiving
from launcher.archiving import FAULT, Nights
from launcher.data_folder import held, read_json, write_json
from launcher.drilling import RESULT, Months, is_due
from launcher.output import NOT_YET, Say
from launcher.processes import ProcessGroup
from launcher.project import Project
from tests.launcher.conftest import wait_until
from tests.launcher.helpers import run

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


OWN_WORDS = """
import datetime as dt, json, os, pathlib, sys
written = json.dumps({"at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), "fault": "its own words"})
(pathlib.Path(os.environ["BACKOFFICE_DATA"]) / "drill.json").write_text(written)
sys.exit(1)
"""


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import os; print('It is as it was made', flush=True); os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("raise KeyError('size')", "KeyError: 'size'"),
        (OWN_WORDS, "its own words"),
    ],
    ids=["killed", "unexpected", "noted"],
)
def test_a_drill_that_ends_by_any_fault_has_failed_until_tomorrow(
    tmp_path: Path, group: ProcessGroup, code: str, fault: str
) -> None:
    backup, result = tmp_path / "to here/20261125-000000Z", tmp_path / RESULT
    backup.mkdir(parents=True)
    write_json(backup / "manifest.json", {"ended_at": "2026-11-25T00:00:09+00:00"})
    write_json(result, {"at": "2026-01-01T00:00:00+00:00", "fault": ""})
    months = Months(Project(tmp_path, {}), group, backup.parent)
    months._drill._look_at, months._drill._command = 0.0, [sys.executable, "-c", code]

    assert "the next try is tomorrow" in says(months.look)

    now = dt.datetime.now(dt.UTC)
    assert read_json(result)["fault"] == fault
    assert not is_due(result, backup.parent, now)
    assert is_due(result, backup.parent, now + dt.timedelta(days=1))


def test_a_drill_from_while_the_clock_was_ahead_is_due_again(tmp_path: Path) -> None:
    (tmp_path / "20261125-000000Z").mkdir()
    write_json(tmp_path / "20261125-000000Z/manifest.json", {"ended_at": "2026-11-25T00:00:09+00:00"})
    write_json(tmp_path / RESULT, {"at": "2031-01-01T00:00:00+00:00", "fault": ""})

    assert is_due(tmp_path / RESULT, tmp_path, dt.datetime(2026, 11, 26, tzinfo=dt.UTC))
    assert not is_due(tmp_path / RESULT, tmp_path, dt.datetime(2031, 1, 2, tzinfo=dt.UTC))


def test_a_drill_beside_another_one_has_not_failed(empty: Path, tmp_path: Path) -> None:
    backup = tmp_path / "20261125-000000Z"
    backup.mkdir()
    write_json(backup / "manifest.json", {"ended_at": "2026-11-25T00:00:09+00:00", "size": 1})
    (empty / "drill").mkdir()

    with held(empty / "drill"):
        result = run("drill", "--from", str(tmp_path), data=empty)

    assert result.returncode == NOT_YET, result.stderr
    assert "Another drill is under way" in result.stderr
    assert not (empty / RESULT).exists()


def test_a_drill_that_has_to_wait_for_another_one_is_not_noted(tmp_path: Path, group: ProcessGroup) -> None:
    (tmp_path / "20261125-000000Z").mkdir()
    write_json(tmp_path / "20261125-000000Z/manifest.json", {"ended_at": "2026-11-25T00:00:09+00:00"})
    said: list[str] = []
    months = Months(Project(tmp_path, {}), group, tmp_path)
    months._drill._look_at, months._drill._command = 0.0, [sys.executable, "-c", f"raise SystemExit({NOT_YET})"]

    def has_ended() -> bool:
        months.look(said.append)
        return (tmp_path / "logs/drill.log").exists() and months._drill._child is None

    assert wait_until(has_ended)
    assert said == []
    assert not (tmp_path / RESULT).exists()
