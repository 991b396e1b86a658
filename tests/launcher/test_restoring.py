"""`./run restore`: a backup and the copied log restore the database, to the last commit or to a moment."""

import datetime as dt
import hashlib
import json
import re
import shutil
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import psycopg
import pytest

from launcher.archiving import LogCopies, is_due
from launcher.backing_up import make_backup
from launcher.backups import NAME, backups_in, named_by_time, number_of
from launcher.data_folder import held, write_json
from launcher.drilling import drill
from launcher.encrypting import OF_DATA_FOLDER
from launcher.output import LaunchError
from launcher.postgresql import PostgreSQL
from launcher.project import LEAST_FREE_BYTES, Project
from launcher.restoring import begin_again, choose, passed_over, recover, restore, segments_after, without_log
from launcher.shop_time import SHOP, in_words, moment
from tests.launcher.conftest import new_folder, wait_for_copy
from tests.launcher.helpers import run


def numbers(server: PostgreSQL) -> list[int]:
    with psycopg.connect(server.url("rows")) as rows:
        return [number for (number,) in rows.execute("SELECT number FROM kept ORDER BY number").fetchall()]


def test_a_killed_database_comes_back_to_its_last_commit_or_to_a_moment(folder, target, group, server):
    # given: a backup while the log is copied, then commits, then kill -9
    copies = LogCopies(Project(folder, {}), server, target).begin()
    with psycopg.connect(server.url("rows"), autocommit=True) as rows:
        rows.execute("CREATE TABLE kept (number int)")
        rows.execute("INSERT INTO kept VALUES (1)")
        make_backup(Project(folder, {}), server, target)
        rows.execute("INSERT INTO kept VALUES (2)")
        time.sleep(0.05)
        moment = dt.datetime.now(dt.UTC)
        time.sleep(0.05)
        rows.execute("INSERT INTO kept VALUES (3)")
        wait_for_copy(rows)
    assert server.child is not None
    server.child.process.kill()
    group.stop([server.child, copies], grace=0)
    secrets = (folder / "secrets.json").read_bytes()
    (backup,) = backups_in(target)

    for to, expected in ((None, [1, 2, 3]), (moment, [1, 2])):
        if to:  # and after it came back over a share or a download: everybody may only read its files
            for path in (backup.folder / "database", *(backup.folder / "database").rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
        with new_folder() as data:
            (data / "secrets.json").write_bytes(secrets)
            time_known, fault = recover(Project(data, {}), group, backup, to, print)
            restored = PostgreSQL(data, group)
            restored.start()
            restored.wait_ready()
            assert numbers(restored) == expected
            assert time_known >= backup.ended
            assert not fault
            # the restored database goes on in copies of its own
            assert not restored.keeps_log_for_copies()
            restored.stop()
    with new_folder() as data:
        (data / "secrets.json").write_bytes(secrets)
        too_late = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
        with pytest.raises(LaunchError, match="the latest time for --to is") as refusal:
            recover(Project(data, {}), group, backup, too_late, print)
    latest = re.search(r"the latest time for --to is (\S+ \S+) WIB", str(refusal.value))
    assert latest
    assert moment < dt.datetime.fromisoformat(f"{latest[1]}.999999+07:00") < moment + dt.timedelta(minutes=1)


def test_a_damaged_segment_of_the_copied_log_is_named(folder, target, group, server):
    # given: a copied log of two segments; the first has lost a part in its middle
    copies = LogCopies(Project(folder, {}), server, target).begin()
    with psycopg.connect(server.url("rows"), autocommit=True) as rows:
        rows.execute("CREATE TABLE kept (number int)")
        make_backup(Project(folder, {}), server, target)
        rows.execute("INSERT INTO kept SELECT generate_series(1, 20000)")
        rows.execute("SELECT pg_switch_wal()")
        rows.execute("INSERT INTO kept SELECT generate_series(1, 20000)")
        wait_for_copy(rows)
    server.stop()
    group.stop([copies], grace=0)
    assert not (folder / "audit.key").exists(), "as in a shop with AUDIT_KEY"
    (backup,) = backups_in(target)
    (damaged,) = [path for path in segments_after(backup) if number_of(path) == backup.first_segment + 1]
    with damaged.open("r+b") as file:
        file.seek(600_000)
        file.write(b"lost" * 1_000)

    with new_folder() as data:
        shutil.copy(folder / "secrets.json", data)
        _until, fault = recover(Project(data, {}), group, backup, None, print)
        with pytest.raises(LaunchError, match="is damaged"):
            drill(Project(folder, {}), group, backup, print)

    assert fault.startswith(f"{damaged} is damaged")


def test_a_file_that_is_no_part_of_the_log_is_left_out(target):
    made(target)
    (backup,) = backups_in(target)
    log = target / "wal/20260101-000000Z"
    log.mkdir(parents=True)
    # a half-written history of a timeline, a program that copies files, and others
    for name in ("00000002.history.tmp", ".000000010000000000000003.aB3dEf", "desktop.ini", "00000002.history"):
        (log / name).touch()
    (log / "000000010000000000000003").touch()

    assert {path.name for path in segments_after(backup)} == {"000000010000000000000003", "00000002.history"}


def test_a_gap_in_the_log_begins_new_copies_and_makes_a_backup_due(folder, target, group, server):
    copies = LogCopies(Project(folder, {}), server, target)
    first = copies.begin()
    make_backup(Project(folder, {}), server, target)
    assert not is_due(target, backups_in(target)[0].began)
    group.stop([first], grace=2)

    # when: it goes on, and then PostgreSQL keeps no log for it any more
    again = copies.begin()
    assert len(named_by_time(target / "wal")) == 1
    group.stop([again], grace=2)
    with psycopg.connect(server.url("postgres"), autocommit=True) as rows:
        rows.execute("SELECT pg_drop_replication_slot('backoffice_backup')")
    time.sleep(1.1)  # names are seconds
    group.stop([copies.begin()], grace=2)

    assert len(named_by_time(target / "wal")) == 2
    assert is_due(target, dt.datetime.now(dt.UTC))
    server.stop()


def test_a_backup_is_due_once_a_night(tmp_path):
    night = dt.datetime(2026, 11, 26, 19, tzinfo=dt.UTC)
    backup = tmp_path / night.strftime(NAME)
    backup.mkdir()
    write_json(backup / "manifest.json", {"ended_at": night.isoformat()})

    assert is_due(tmp_path / "none", night)
    assert not is_due(tmp_path, night + dt.timedelta(hours=23, minutes=59))
    assert is_due(tmp_path, night + dt.timedelta(hours=24))


def test_a_backup_from_while_the_clock_was_ahead_is_no_nights(tmp_path):
    now = dt.datetime(2026, 11, 26, 23, tzinfo=dt.UTC)
    for at in (dt.datetime(2026, 11, 26, 4, tzinfo=dt.UTC), dt.datetime(2031, 1, 1, tzinfo=dt.UTC)):
        backup = tmp_path / at.strftime(NAME)
        backup.mkdir()
        write_json(backup / "manifest.json", {"ended_at": at.isoformat()})
    assert is_due(tmp_path, now)

    # when: the copies of the log began then, too, and the night's backup is made
    (tmp_path / "wal/20310101-000000Z").mkdir(parents=True)
    backup.rename(tmp_path / dt.datetime(2026, 11, 26, 19, 1, tzinfo=dt.UTC).strftime(NAME))

    assert not is_due(tmp_path, now)


def made(target: Path, *, secrets: bool = True, day: str = "20260101") -> None:
    backup = target / f"{day}-000000Z"
    backup.mkdir()
    (backup / "secrets.age").touch()
    (backup / "database").mkdir()
    write_json(backup / "database/backup_manifest", {"WAL-Ranges": [{"Start-LSN": "0/3000028"}]})
    write_json(backup / "manifest.json", {"ended_at": "2026-01-01T00:00:09+00:00", "secrets": secrets, "version": "1"})


def test_what_keeps_a_restore_from_being_made_is_a_sentence(empty, target):
    for words, sentence in [
        ((), "There is no finished backup"),
        (("--to", "2025-12-31T00:00:00Z"), "the earliest time for --to is 2026-01-01 07:00:09 WIB"),
        (("--to", "2026-01-01 07:00:08"), "--to is understood as 2026-01-01 07:00:08 WIB (00:00:08 UTC)"),
        (("--to", "2026-01-01 08:00:00"), "no copied log"),
        (("--from", "/nowhere/at all"), "There is no folder /nowhere/at all: mount its disk"),
        (("--to", "yesterday"), "a time is written as"),
        ((), "Name the private key"),
    ]:
        if words and not backups_in(target):
            made(target)

        result = run("restore", "--from", str(target), *words, data=empty)

        assert result.returncode != 0, sentence
        assert sentence in result.stdout + result.stderr
        assert "Traceback" not in result.stderr


def test_the_own_folder_of_an_older_backup_is_taken(target):
    made(target)
    made(target, day="20260102")

    assert choose(target, None).folder.name == "20260102-000000Z"
    assert choose(target / "20260101-000000Z", None).folder.name == "20260101-000000Z"


def test_a_backup_with_a_damaged_manifest_is_named(target):
    made(target, day="20260101")
    made(target, day="20260102")
    damaged = target / "20260102-000000Z"
    (damaged / "manifest.json").write_text("{")

    backup = choose(target, None)

    assert backup.folder.name == "20260101-000000Z"
    (words,) = passed_over(target, backup)
    assert f"{damaged}/manifest.json is damaged" in words
    with pytest.raises(LaunchError, match=r"manifest\.json is damaged"):
        choose(damaged, None)


def test_a_backup_whose_list_of_files_was_cut_short_is_named(empty, target):
    made(target, secrets=False)
    cut = target / "20260101-000000Z/database/backup_manifest"
    (target / "wal/20260101-000000Z").mkdir(parents=True)
    (target / "wal/20260101-000000Z/000000010000000000000003.partial").touch()
    for written in ("", '{"PostgreSQL-Backup-Manifest-Version": 2, "Files": [', '{"WAL-Ranges": []}'):
        cut.write_text(written)

        result = run("restore", "--from", str(target), data=empty)

        assert result.returncode == 1, written
        assert f"{cut} is damaged or missing: use another backup" in result.stderr
        assert "Traceback" not in result.stderr


def test_a_backup_without_the_copied_log_says_what_is_lost(target):
    made(target)
    (backup,) = backups_in(target)
    assert "There is no copied log" in without_log(backup)
    assert "no journal (sent/) either" in without_log(backup)

    (target / "sent").mkdir()
    (target / "sent/20260101-4f1d2c3b.jsonl").touch()
    assert "but for the orders that the journal" in without_log(backup)

    (target / "wal/20260101-000000Z").mkdir(parents=True)
    (target / "wal/20260101-000000Z/000000010000000000000003.partial").touch()
    assert without_log(backup) == ""


def test_a_time_is_in_the_shops_zone_unless_it_names_another(settings):
    for typed, utc in {
        "2026-11-26 14:05": "2026-11-26T07:05:00",
        "2026-11-26 14:05 WIB": "2026-11-26T07:05:00",
        "2026-11-26 15:05 wita": "2026-11-26T07:05:00",
        "2026-11-26 16:05:30 WIT": "2026-11-26T07:05:30",
        "2026-11-26T07:05:00Z": "2026-11-26T07:05:00",
        "2026-11-26 14:05+07:00": "2026-11-26T07:05:00",
    }.items():
        at = moment(typed)

        assert at == dt.datetime.fromisoformat(f"{utc}+00:00"), typed
        assert SHOP.utcoffset(None) == at.astimezone(ZoneInfo(settings.TIME_ZONE)).utcoffset()
        assert in_words(at).startswith(f"{utc[:10]} 14:05")


def test_a_damaged_log_in_a_backup_says_what_to_do(empty, target, group):
    (target / "pg_wal").mkdir()
    span = {"Timeline": 1, "Start-LSN": "0/2000028", "End-LSN": "0/2000120"}
    listed = json.dumps({"Files": [], "WAL-Ranges": [span]})[:-1] + "\n"
    digest = hashlib.sha256(listed.encode()).hexdigest()
    (target / "backup_manifest").write_text(f'{listed},"Manifest-Checksum": "{digest}"}}')

    with pytest.raises(LaunchError, match="use another backup"):
        PostgreSQL(empty, group).verify_copy(target, log=empty / "logs/restore.log")


def test_nothing_is_restored_over_data(folder, target):
    made(target)

    result = run("restore", "--from", str(target), data=folder)

    assert result.returncode == 1
    assert "holds data" in result.stderr
    assert (folder / "postgres").exists()


@pytest.mark.parametrize("brings_secrets", [True, False])
def test_a_restore_that_begins_again_keeps_secrets_that_no_backup_brings(empty, target, brings_secrets):
    # given: an interrupted restore; without secrets in the backup, a person had put copies there
    made(target, secrets=brings_secrets)
    (backup,) = backups_in(target)
    for name in ("secrets.json", "audit.key", "restoring"):
        (empty / name).write_text("kept")
    (empty / "postgres").mkdir()

    begin_again(Project(empty, {}), backup)

    left = {path.name for path in empty.iterdir()} - {"lock"}
    assert left == (set() if brings_secrets else {"secrets.json", "audit.key"})


def test_a_backup_without_secrets_needs_the_key_of_the_audit_too(empty, target):
    # given: with a new key each older checkpoint would count as wrongly signed
    made(target, secrets=False)
    (empty / "secrets.json").touch()

    without = run("restore", "--from", str(target), data=empty)
    with_setting = run("restore", "--from", str(target), data=empty, AUDIT_KEY="of the environment")

    assert "put your copies of secrets.json and audit.key" in without.stderr
    assert "put your copies" not in with_setting.stderr


def test_what_cannot_be_read_is_a_sentence(empty, target):
    made(target)
    (target / "wal").mkdir()
    (target / "wal/20260101-000000Z").touch()  # stands in for a folder that this user may not read

    result = run("restore", "--from", str(target), data=empty)

    assert result.returncode == 1
    assert f"The restore cannot go on ([Errno 20] Not a directory: '{target}/wal" in result.stderr


def test_a_restore_without_room_is_refused_before_it_begins(empty, target, group, monkeypatch):
    # given: a little more room than the shop itself needs, and a segment of the log that follows
    made(target, secrets=False)
    (target / "20260101-000000Z/secrets.age").unlink()
    for name in OF_DATA_FOLDER:
        (empty / name).touch()
    (target / "wal/20260101-000000Z").mkdir(parents=True)
    (target / "wal/20260101-000000Z/000000010000000000000003.partial").touch()
    monkeypatch.setenv("BACKOFFICE_DATA", str(empty))
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=LEAST_FREE_BYTES + 1_000_000))

    with pytest.raises(LaunchError, match="16 MB do not fit"):
        restore(group, print, Namespace(to=None, key=None), Project(empty, {}), target)

    assert not (empty / "restoring").exists()


def test_a_restore_beside_another_one_leaves_it_alone(empty, target):
    made(target, secrets=False)
    (empty / "secrets.json").write_text("{}")
    with held(empty):
        (empty / "restoring").touch()
        (empty / "postgres").mkdir()

        second = run("restore", "--from", str(target), data=empty)

    assert second.returncode == 1
    assert "in use" in second.stderr
    assert (empty / "postgres").exists()
    assert (empty / "restoring").exists()


def test_a_restore_that_was_cut_off_is_no_shop(empty):
    (empty / "restoring").touch()

    result = run("manage", "orders", data=empty)

    assert result.returncode == 1
    assert "call ./run restore again" in result.stderr
