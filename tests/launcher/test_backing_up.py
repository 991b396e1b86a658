"""`./run backup`: a copy of the whole database while it works, with its secrets; an interrupted copy does not count."""

import datetime as dt
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from launcher.backing_up import about_foreign_database
from launcher.backups import (
    NAME,
    Backup,
    backups_in,
    delete_log_before,
    delete_old,
    end_of_log,
    refuse_another_shops,
    unread,
    verify_files,
    verify_log,
)
from launcher.data_folder import read_json, write_json, write_state
from launcher.encrypting import make_key, open_secrets
from launcher.output import LaunchError
from launcher.processes import NICENESS
from launcher.project import Project
from tests.launcher.conftest import Keeper, clean_environment, new_folder, wait_until
from tests.launcher.helpers import ROOT, run


def serving(data: Path, keeper: Keeper) -> None:
    """Present the keeper's stores as those of a serving shop."""
    port = read_json(data / "ports.json")["postgres"]
    rows = [{"name": "postgres", "port": port}]
    write_state(data, {"doing": "serving", "pid": keeper.process.pid, "processes": rows})


def test_a_backup_under_way_has_what_was_committed_and_its_secrets(keep, folder, target, tmp_path):
    keeper = keep()
    serving(folder, keeper)
    with psycopg.connect(keeper.state["database_url"], autocommit=True) as rows:
        rows.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number")
    public = make_key(tmp_path / "key")

    made = run("backup", str(target), "--json", data=folder, BACKUP_RECIPIENT=public)

    assert made.returncode == 0, made.stderr
    manifest = json.loads(made.stdout)
    (backup,) = backups_in(target)
    assert manifest == backup.manifest == read_json(folder / "last-backup.json")
    assert manifest["secrets"]
    assert (backup.folder / "database/PG_VERSION").exists()
    sealed = (backup.folder / "secrets.age").read_bytes()
    secrets = (folder / "secrets.json").read_bytes()
    assert open_secrets(sealed, tmp_path / "key")["secrets.json"] == secrets
    for file in backup.folder.rglob("*"):
        assert not file.is_file() or json.loads(secrets)["django"].encode() not in file.read_bytes(), file
    make_key(tmp_path / "another key")
    with pytest.raises(LaunchError, match="does not open"):
        open_secrets(sealed, tmp_path / "another key")


def test_without_a_key_the_secrets_are_not_in_it_and_it_says_so(one_backup):
    target, said = one_backup

    assert "--new-key" in said
    assert not list(target.rglob("secrets.age"))


def test_a_backup_that_names_no_database_ends_no_launcher(target):
    (target / "20261126-190000Z").mkdir()
    write_json(target / "20261126-190000Z/manifest.json", {"ended_at": "2026-11-26T19:00:09+00:00"})

    with pytest.raises(LaunchError, match="another database"):
        refuse_another_shops(target, "this")


def test_backups_in_a_folder_and_a_given_database_do_not_go_together(tmp_path):
    given = {"BACKUP_TO": "/b", "DATABASE_URL": "postgresql://a@b/c"}

    assert "BACKUP_TO" in about_foreign_database(Project(tmp_path, given))
    for alone in ({}, *({name: value} for name, value in given.items())):
        assert about_foreign_database(Project(tmp_path, alone)) == ""


def test_what_follows_a_record_that_cannot_be_read_tells_damage_from_the_end(tmp_path):
    segment = tmp_path / "000000010000000000000005.partial"
    for start, length, written, is_damaged in [
        (4096, 100, 60, False),  # half a record
        (4096, 100, 100, False),
        (4096, 100, 108, True),  # more log follows
        (3 * 8192 - 16, 64, 16 + 24 + 48, False),  # goes on after the head of the next page
        (3 * 8192 - 16, 64, 16 + 24 + 56, True),
        (4096, 0, 200, True),  # the record's length is lost
        (4096, 0x74736F6C, 100_000, True),
    ]:
        content = length.to_bytes(4, "little") + b"x" * (written - 4)
        segment.write_bytes(b"x" * start + content + bytes(16 * 1024 * 1024 - start - len(content)))

        came = unread([segment], read_to=5 * 16 * 1024 * 1024 + start, end=end_of_log([segment]))
        assert came == (segment if is_damaged else None), (start, length, written)


def test_what_a_shop_that_sells_adds_while_its_log_is_read_is_no_damage(tmp_path):
    segment, size = tmp_path / "000000010000000000000005.partial", 16 * 1024 * 1024
    segment.write_bytes(b"x" * 4096 + bytes(size - 4096))
    end = end_of_log([segment])

    # when: the shop goes on, and the partial segment has become a whole one
    segment.write_bytes(b"x" * 400_000 + bytes(size - 400_000))
    segment.rename(segment.with_suffix(""))

    assert end == 5 * size + 4096
    assert unread([segment], read_to=end, end=end) is None
    assert end_of_log([segment]) == 5 * size + 400_000


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not weigh sessions")
def test_what_nobody_waits_for_is_weighed_less_in_its_own_session_and_so_are_its_children(group, tmp_path):
    show = "import os; print(os.nice(0), open('/proc/self/autogroup').read())"
    again = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {show!r}], check=True)"
    log = tmp_path / "niceness.log"

    shown = group.start("shown", [sys.executable, "-c", again], env={}, cwd=tmp_path, log=log, niceness=NICENESS)

    assert group.finish(shown) == 0
    own, *_session, session = log.read_text().split("\n", 1)[1].split()
    assert {int(own), int(session)} == {min(19, os.nice(0) + NICENESS)}


SENDER = "SELECT pid FROM pg_stat_replication WHERE application_name = 'pg_basebackup' ORDER BY backend_start LIMIT 1"


def test_a_backup_that_is_killed_counts_for_none(keep, folder, target):
    keeper = keep()
    serving(folder, keeper)
    with subprocess.Popen(
        [sys.executable, str(ROOT / "run"), "backup", str(target)], env=clean_environment(BACKOFFICE_DATA=str(folder))
    ) as killed:
        assert wait_until(lambda: bool(list(target.glob(".*.new/database/PG_VERSION"))))
        # meanwhile the server's process that sends the files has the backup's niceness
        with psycopg.connect(keeper.state["database_url"], autocommit=True) as rows:
            sender = (rows.execute(SENDER).fetchone() or (0,))[0]
        assert sender
        assert wait_until(lambda: os.getpriority(os.PRIO_PROCESS, sender) == max(NICENESS, os.nice(0)))
        os.kill(killed.pid, signal.SIGKILL)
    assert backups_in(target) == []

    made = run("backup", str(target), data=folder)

    assert made.returncode == 0, made.stderr
    assert len(backups_in(target)) == 1
    assert not list(target.glob(".*"))


def test_what_keeps_a_backup_from_being_made_is_a_sentence(folder, target):
    for words, environment, sentence in [
        (["/nowhere/at/all"], {}, "There is no folder"),
        ([], {}, "set BACKUP_TO"),
        ([str(target)], {"DATABASE_URL": "postgresql://a:b@127.0.0.1:1/c"}, "docs/backup.md"),
        ([str(target)], {"BACKUP_KEEP": "7"}, "BACKUP_KEEP"),
        ([str(target)], {"BACKUP_RECIPIENT": "age1no"}, "not a public key"),
        ([str(target)], {}, "The backup failed: [Errno 20] Not a directory"),
    ]:
        if "Errno" in sentence:
            (target / ".20260101-000000Z.new").touch()  # stands in for a folder that this user may not delete

        made = run("backup", *words, data=folder, **environment)

        assert made.returncode != 0, sentence
        assert sentence in made.stderr
        assert "Traceback" not in made.stderr
        assert backups_in(target) == []


def test_the_backups_of_another_database_are_left_alone(folder, target):
    write_json(made_at(target, dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) / "manifest.json", manifest_of("another"))

    made = run("backup", str(target), data=folder)

    assert "another database" in made.stderr
    assert len(backups_in(target)) == 1


def made_at(folder: Path, at: dt.datetime) -> Path:
    """A backup of this time."""
    backup = folder / at.strftime(NAME)
    (backup / "database").mkdir(parents=True)
    write_json(backup / "database/backup_manifest", {"WAL-Ranges": [{"Start-LSN": "0/3000028"}]})
    write_json(backup / "manifest.json", manifest_of("this"))
    return backup


def manifest_of(database: str) -> dict[str, str]:
    return {"ended_at": "2026-01-01T00:00:00+00:00", "database": database}


def test_the_newest_of_each_day_week_and_month_are_kept(tmp_path):
    newest = dt.datetime(2026, 11, 26, 19, tzinfo=dt.UTC)
    for days in range(400):
        made_at(tmp_path, newest - dt.timedelta(days=days))
    made_at(tmp_path, newest - dt.timedelta(hours=1))

    delete_old(tmp_path, (7, 4, 12))

    left = [backup.began for backup in backups_in(tmp_path)]
    assert left[-8:] == [
        *(newest - dt.timedelta(days=days) for days in range(6, 0, -1)),
        newest - dt.timedelta(hours=1),
        newest,
    ]
    assert [at.day for at in left if at.month == 11 and at.day < 20] == [8, 15]
    assert {(at.year, at.month) for at in left} == {(2025, 12), *((2026, month) for month in range(1, 12))}
    assert len(left) == 8 + 2 + 11


def test_a_backup_from_while_the_clock_was_ahead_deletes_nothing_else(tmp_path):
    newest = dt.datetime(2026, 11, 26, 19, tzinfo=dt.UTC)
    for days in range(3):
        made_at(tmp_path, newest - dt.timedelta(days=days))
    ahead = made_at(tmp_path, dt.datetime.now(dt.UTC) + dt.timedelta(days=1500))
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent/20261126-4f1d2c3b.jsonl").touch()

    with pytest.raises(LaunchError, match=f"{ahead.name} has a later time"):
        delete_old(tmp_path, (7, 0, 0))

    assert len(backups_in(tmp_path)) == 4
    assert (tmp_path / "sent/20261126-4f1d2c3b.jsonl").exists()


def test_the_log_is_kept_from_the_oldest_day_on(tmp_path):
    old, new = tmp_path / "20260101-000000Z", tmp_path / "20260201-000000Z"
    for folder in (old, new):
        folder.mkdir()
    for file in ("000000010000000000000002", "000000010000000000000004.partial"):
        (old / file).touch()
    for file in ("00000002.history", "0000000200000000000000FE", "000000020000000100000001"):
        (new / file).touch()

    delete_log_before(tmp_path, 256)

    assert not old.exists()
    assert sorted(file.name for file in new.iterdir()) == ["00000002.history", "000000020000000100000001"]


@pytest.fixture(scope="module")
def one_backup(template: Path) -> Iterator[tuple[Path, str]]:
    """The folder with a backup of a database that was in use before, and the words about it."""
    with new_folder() as data, new_folder() as target:
        subprocess.run(["cp", "-a", f"{template}/.", data], check=True)
        made = run("backup", str(target), data=data)
        assert made.returncode == 0, made.stderr
        yield target, made.stderr


@pytest.fixture
def backup(one_backup: tuple[Path, str], target: Path) -> Backup:
    """A copy of that backup for one test."""
    subprocess.run(["cp", "-a", f"{one_backup[0]}/.", target], check=True)
    (backup,) = backups_in(target)
    return backup


def test_a_damaged_older_backup_is_a_warning_and_its_log_stays(folder, target, backup):
    (backup.folder / "database/backup_manifest").write_text("{")
    log = target / "wal" / backup.folder.name
    log.mkdir(parents=True)
    (log / "000000010000000000000001").touch()
    (target / "sent").mkdir()
    (target / "sent/20200101-4f1d2c3b.jsonl").touch()
    # and the state of before a power cut, with the launcher's id, which another process has now
    write_state(folder, {"doing": "serving", "pid": os.getpid(), "processes": [{"name": "postgres", "port": 9}]})

    made = run("backup", str(target), data=folder)

    assert made.returncode == 0, made.stderr
    assert f"{backup.folder}/database/backup_manifest is damaged" in made.stderr
    assert "verified" in made.stdout
    assert len(backups_in(target)) == 2
    assert (log / "000000010000000000000001").exists()
    assert (target / "sent/20200101-4f1d2c3b.jsonl").exists()


def test_a_backup_that_is_not_as_it_was_made_is_named(backup):
    database = backup.folder / "database"
    victim, listed, added = database / "global/pg_control", database / "backup_manifest", database / "base/1/1"
    content, manifest = victim.read_bytes(), listed.read_bytes()
    for how, path, damaged in [
        ("changed", victim, content[:-1] + b"1"),
        ("gone", victim, None),
        ("added", added, b""),
        ("list", listed, manifest.replace(b'"Size": 3,', b'"Size": 4,')),
        ("no sum", listed, manifest.replace(b"Manifest-Checksum", b"Manifest-Checkswm")),
        ("cut list", listed, manifest[:1000]),
        ("no list", listed, None),
    ]:
        whole = {victim: content, listed: manifest, added: None}[path]
        put(path, damaged)

        assert "use another" in fault_of(database), how

        put(path, whole)
    assert fault_of(database) == ""


def fault_of(database: Path) -> str:
    """The words about a database that is not as it was made."""
    try:
        verify_files(database)
    except LaunchError as fault:
        return str(fault)
    return ""


def put(path: Path, content: bytes | None) -> None:
    """Write this content; None deletes the file."""
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def test_a_byte_of_the_log_in_a_backup_that_was_changed_is_named(backup):
    database, listed = backup.folder / "database", backup.manifest["log"]
    verify_log(database, listed)

    # when: the damage is after the last record, which PostgreSQL's own program does not check
    segment = max(file for file in (database / "pg_wal").iterdir() if file.is_file())
    with segment.open("r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"lost")

    with pytest.raises(LaunchError, match=f"{segment.name} is not as it was copied: use another"):
        verify_log(database, listed)
