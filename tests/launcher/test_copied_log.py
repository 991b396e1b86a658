"""The loss with the disk is measured by the copy of the log, and not assumed."""

import datetime as dt
import os
import time

import psycopg
import pytest

from launcher.archiving import FAULT, NOTE, CopiedLog, LogCopies, Nights, thinned
from launcher.backups import new_name
from launcher.data_folder import read_json, write_json
from launcher.output import LaunchError
from launcher.project import Project
from tests.launcher.conftest import wait_until


def test_the_time_stands_still_while_a_commit_is_not_in_the_copy(folder, target, group, server):
    project = Project(folder, {})
    copies, log = LogCopies(project, server, target), CopiedLog(project, server, target)
    assert log.measure() is None

    # given: a copy goes on, and no backup is there yet
    copying = copies.begin()
    with psycopg.connect(server.url("rows"), autocommit=True) as rows:
        rows.execute("CREATE TABLE kept (number int)")
        assert wait_until(lambda: server.ends_of_log()[1] == server.ends_of_log()[0])
        assert log.measure() is None

        # when: the first backup is made
        backup = target / new_name()
        backup.mkdir()
        manifest = {"ended_at": dt.datetime.now(dt.UTC).isoformat(), "database": server.identifier()}
        write_json(backup / "manifest.json", manifest)
        begun = dt.datetime.now(dt.UTC)
        assert wait_until(lambda: (log.measure() or begun) > begun)

        # when: the copy ends, and a commit follows
        group.stop([copying], grace=2)
        committed = dt.datetime.now(dt.UTC)
        rows.execute("INSERT INTO kept VALUES (1)")
        log.measure()
        stands = log.measure()
        assert stands is None or stands < committed
        kept = dt.datetime.fromisoformat(read_json(folder / NOTE)["until"])
        assert kept < committed

        # when: the copy goes on
        copies.begin()
        assert wait_until(lambda: (log.measure() or committed) > committed)
    assert dt.datetime.fromisoformat(read_json(folder / NOTE)["until"]) > committed
    server.stop()


def test_a_folder_that_does_not_answer_holds_up_no_launcher(folder, target, group, server, monkeypatch):
    monkeypatch.setattr("launcher.archiving.ANSWER_SECONDS", 0.5)
    copies = LogCopies(Project(folder, {}), server, target)
    # given: reading from this folder waits, as on a network disk that is away
    backup = target / new_name()
    backup.mkdir()
    os.mkfifo(backup / "manifest.json")
    begun = time.monotonic()
    for _again in range(2):
        with pytest.raises(LaunchError, match="does not answer"):
            copies.begin()
    waited = time.monotonic() - begun

    # when: it answers again
    (backup / "manifest.json").open("w").close()
    (backup / "manifest.json").unlink()
    assert wait_until(lambda: not copies.is_waiting)
    child = copies.begin()

    assert waited < 5
    assert child.running()
    group.stop([child], grace=2)
    server.stop()


def test_copies_that_stand_still_for_days_leave_few_marks():
    marks: list[tuple[dt.datetime, int]] = []
    for number in range(5_000):
        marks = thinned([*marks, (dt.datetime(2026, 11, 26, tzinfo=dt.UTC) + dt.timedelta(seconds=number), number)])

    assert len(marks) < 1_000
    assert marks[-1][1] == 4_999
    assert marks == sorted(marks)


def test_a_backup_that_fails_in_the_night_leaves_its_reason(tmp_path, group, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)  # the tests' own database
    (tmp_path / "logs").mkdir()
    nights = Nights(Project(tmp_path, {}), group, tmp_path / "away")
    said: list[str] = []

    def has_said() -> bool:
        nights.look(said.append)
        return bool(said)

    assert wait_until(has_said, seconds=60)
    assert "There is no folder" in read_json(tmp_path / FAULT)["fault"]
