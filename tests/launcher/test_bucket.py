"""The folder of backups is in a bucket, too, encrypted, and the bucket alone can restore the shop."""

import datetime as dt
import gzip
import json
import tarfile
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pyrage
import pytest

from launcher.archiving import NOTE as LOG_NOTE, LogCopies
from launcher.backing_up import make_backup
from launcher.backups import NAME, backups_in, named_by_time
from launcher.bucket import Bucket, BucketError, manifests_in, open_file, open_folder, seal_folder
from launcher.bucket_copies import NOTE, Copier, take_turn
from launcher.data_folder import DataFolderInUseError, read_json, write_json
from launcher.encrypting import make_key, private_key
from launcher.output import LaunchError
from launcher.postgresql import PostgreSQL
from launcher.project import LEAST_FREE_BYTES, Project
from launcher.restoring import choose, fetched, recover
from tests.launcher.conftest import new_folder, wait_for_copy
from tests.launcher.helpers import run

BUCKET = "s3://shop/backups"


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@pytest.fixture
def given(bucket: dict[str, str]) -> dict[str, str]:
    """The settings of an empty bucket, with a key of its own."""
    return bucket


def copier_of(data: Path, given: dict[str, str], target: Path) -> Copier:
    project = Project(data, {**given, "BACKUP_TO": str(target)})
    return Copier(project, Bucket(project, BUCKET), target)


def made_at(target: Path, at: dt.datetime, *, segment: int = 3, database: str = "this") -> str:
    """A small backup of this time; its name."""
    backup = target / at.strftime(NAME)
    (backup / "database").mkdir(parents=True)
    write_json(backup / "database/backup_manifest", {"WAL-Ranges": [{"Start-LSN": f"0/{segment}000028"}]})
    write_json(backup / "manifest.json", {"ended_at": at.isoformat(), "database": database, "secrets": True})
    return backup.name


def test_the_bucket_alone_brings_every_commit_back(folder, target, given, group, server):
    # given: a backup, the later commits and the journal are in the bucket; then both disks are lost
    project = Project(folder, {**given, "BACKUP_TO": str(target)})
    (folder / "audit.key").write_text("the audit's")
    copies = LogCopies(project, server, target).begin()
    copier = Copier(project, Bucket(project, BUCKET), target)
    with psycopg.connect(server.url("rows"), autocommit=True) as rows:
        rows.execute("CREATE TABLE kept AS SELECT '081234567890' AS number")
        make_backup(project, server, target)
        copier.copy_backups()
        rows.execute("INSERT INTO kept VALUES ('081298765432')")
        wait_for_copy(rows)
    (target / "sent").mkdir()
    (target / "sent/20261126-4f1d2c3b.jsonl").write_text('{"ref_id": "B261126-SBXRMFX9SW"}\n')
    copier.copy_files()
    server.stop()
    group.stop([copies], grace=0)

    # then: nobody can read a number in the bucket
    bucket = Bucket(project, BUCKET)
    names = bucket.sizes()
    assert all(name.endswith((".age", ".json")) for name in names)
    assert not any(b"081234567890" in bucket.get(name) or b"B261126-SBXRMFX9SW" in bucket.get(name) for name in names)

    with new_folder() as data:
        empty = Project(data, given)
        options = SimpleNamespace(source=BUCKET, to=None, key=Path(given["KEY"]))
        with fetched(empty, options, print) as source:
            (data / "secrets.json").write_bytes((folder / "secrets.json").read_bytes())
            recover(empty, group, choose(source, None), None, print)
            assert (source / "sent/20261126-4f1d2c3b.jsonl").read_text() == '{"ref_id": "B261126-SBXRMFX9SW"}\n'
        restored = PostgreSQL(data, group)
        restored.start()
        restored.wait_ready()
        with psycopg.connect(restored.url("rows")) as rows:
            assert [number for (number,) in rows.execute("SELECT number FROM kept ORDER BY 1")] == [
                "081234567890",
                "081298765432",
            ]
        restored.stop()
        assert not (data / "fetched").exists()


def test_a_segment_that_grows_is_copied_again_and_goes_once_it_is_whole(empty, target, given):
    begun = now() - dt.timedelta(hours=1)
    log = target / "wal" / begun.strftime(NAME)
    log.mkdir(parents=True)
    (log / "000000010000000000000004.partial").write_bytes(b"one")
    write_json(empty / LOG_NOTE, {"until": begun.isoformat()})
    copier = copier_of(empty, given, target)
    copier.copy_files()
    copier.note()
    assert read_json(empty / NOTE)["until"] is None, "nothing can be restored without a backup"
    made_at(target, begun + dt.timedelta(minutes=1))
    copier.copy_backups()

    (log / "000000010000000000000004.partial").write_bytes(b"one two")
    copier.copy_files()
    assert list(copier._bucket.sizes("wal")) == [f"wal/{log.name}/000000010000000000000004.partial.gz.age"]
    (log / "000000010000000000000004.partial").rename(log / "000000010000000000000004")
    (log / "000000010000000000000005.partial").write_bytes(b"three")
    copier.copy_files()
    copier.note()

    assert sorted(copier._bucket.sizes("wal")) == [
        f"wal/{log.name}/000000010000000000000004.gz.age",
        f"wal/{log.name}/000000010000000000000005.partial.gz.age",
    ]
    assert read_json(empty / NOTE)["until"] == begun.isoformat()


def test_a_backup_from_while_the_clock_was_ahead_deletes_nothing_in_the_bucket(empty, target, given):
    for days in (1, 0, -1500):
        made_at(target, now() - dt.timedelta(days=days))
    (target / "sent").mkdir()
    (target / "sent/20261126-4f1d2c3b.jsonl").touch()
    copier = copier_of(empty, given, target)
    copier.copy_files()

    copier.copy_backups()

    assert len(manifests_in(copier._bucket)) == 3
    assert list(copier._bucket.sizes("sent")) == ["sent/20261126-4f1d2c3b.jsonl.gz.age"]


def test_what_is_gone_here_stays_in_the_bucket_and_what_is_too_old_goes(empty, target, given):
    newest = dt.datetime(2026, 11, 26, 19, tzinfo=dt.UTC)
    log = target / "wal" / (newest - dt.timedelta(days=9)).strftime(NAME)
    log.mkdir(parents=True)
    for segment in (2, 3, 4):
        (log / f"00000001000000000000000{segment}").touch()
    old = [made_at(target, newest - dt.timedelta(days=days), segment=2) for days in (9, 8)]
    copier = copier_of(empty, given, target)
    copier.copy_files()
    copier.copy_backups()
    for name in old:
        (target / name).rename(target / f"gone-{name}")

    again = copier_of(empty, given, target)
    with pytest.raises(LaunchError, match="waits for the first"):
        again.copy_files()
    assert {name.partition(".")[0] for name in again._bucket.sizes() if "/" not in name} == set(old), "a new disk"
    made = made_at(target, newest, segment=4)
    again.copy_backups()

    assert again._record.compare(now()) == [], "what is too old is not lost"
    left = again._bucket.sizes()
    assert {name.partition(".")[0] for name in left if "/" not in name} == {made, old[1]}, "one of its week is kept"
    assert [name for name in left if name.startswith("wal/")] == [f"wal/{log.name}/000000010000000000000004.gz.age"]


def test_the_bucket_of_another_shop_is_left_alone(empty, target, given):
    made_at(target, now(), database="another")
    copier_of(empty, given, target).copy_backups()
    for backup in backups_in(target):
        write_json(backup.folder / "manifest.json", {**backup.manifest, "database": "this"})

    (target / "sent").mkdir()
    (target / "sent/20261126-4f1d2c3b.jsonl").write_text("{}\n")
    copier = copier_of(empty, given, target)
    before = copier._bucket.sizes()

    for turn in (copier.copy_files, copier.copy_backups):
        with pytest.raises(LaunchError, match="another database"):
            turn()

    assert copier._bucket.sizes() == before


def test_what_somebody_has_deleted_or_changed_in_the_bucket_is_noted_and_copied_again(empty, target, given):
    # given: a backup and a segment in the bucket, and a copier that begins again
    name = made_at(target, now())
    log = target / "wal" / name
    log.mkdir(parents=True)
    (log / "000000010000000000000004").write_bytes(b"four")
    copier_of(empty, given, target).copy_backups()
    copier_of(empty, given, target).copy_files()
    copier = copier_of(empty, given, target)
    segment = f"wal/{name}/000000010000000000000004.gz.age"
    whole = copier._bucket.objects()

    # when: the backup is deleted, and the segment is replaced by another of the same size
    copier._bucket.delete([f"{name}.tar.gz.age"])
    copier._bucket.put(segment, bytes(whole[segment].size))
    copier.compare()
    copier.note()

    # then: both are named as lost for a day, and copied again
    noted = read_json(empty / NOTE)["compared"]
    assert (noted["lost"], noted["names"]) == (2, [f"{name}.tar.gz.age", segment])
    copier.copy_files()
    copier.copy_backups()
    assert copier._bucket.sizes().keys() == whole.keys()
    assert open_file(copier._bucket.get(segment), private_key(Path(given["KEY"]))) == b"four"
    copier.compare()
    assert copier._record.result["lost"] == 2, "once a day"

    copier._record.compare(now() + dt.timedelta(days=1))
    assert copier._record.result["lost"] == 0


def test_a_bucket_that_is_away_is_said_and_the_time_stands_still(empty, target, given):
    write_json(empty / NOTE, {"until": "2026-11-26T07:00:00+00:00", "backup": "", "fault": ""})
    nowhere = {**given, "BACKUP_BUCKET": "s3://nowhere/at/all"}
    project = Project(empty, nowhere)
    copier = Copier(project, Bucket(project, "s3://nowhere/at/all"), target)
    (target / "sent").mkdir()
    (target / "sent/20261126-4f1d2c3b.jsonl").write_text("{}\n")

    take_turn(copier, copier.copy_files)
    copier.note()

    noted = read_json(empty / NOTE)
    assert noted["until"] == "2026-11-26T07:00:00+00:00"
    assert "s3://nowhere/at/all" in noted["fault"]


def test_a_damaged_backup_is_named_and_the_older_ones_behind_it_are_copied(empty, target, given):
    oldest, older, damaged = (made_at(target, now() - dt.timedelta(hours=hours)) for hours in (3, 2, 1))
    (target / damaged / "database/backup_manifest").write_text("{")
    copier = copier_of(empty, given, target)

    take_turn(copier, copier.copy_backups)
    copier.note()

    assert f"{damaged}/database/backup_manifest is damaged or missing" in read_json(empty / NOTE)["fault"]
    assert {name.partition(".")[0] for name in copier._bucket.sizes()} == {oldest, older}
    assert (read_json(empty / NOTE)["backup"], read_json(empty / NOTE)["newest"]) == (older, damaged)


def test_a_fault_of_the_bucket_ends_the_turn(empty, target, given, monkeypatch):
    for hours in (2, 1):
        made_at(target, now() - dt.timedelta(hours=hours))
    copier, tries = copier_of(empty, given, target), []

    def refuse(name: str, _content: object) -> str:
        tries.append(name)
        raise BucketError("away")

    monkeypatch.setattr(copier._bucket, "put", refuse)

    with pytest.raises(BucketError, match="away"):
        copier.copy_backups()
    assert len(tries) == 1


def with_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a little more free than the shop itself needs."""
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=LEAST_FREE_BYTES + 1_000_000))


def test_a_backup_for_the_bucket_leaves_the_shop_its_room(empty, target, given, monkeypatch):
    name = made_at(target, now())
    (target / name / "database/base").write_bytes(bytes(2_000_000))
    copier = copier_of(empty, given, target)
    with_little_room(monkeypatch)

    with pytest.raises(LaunchError, match=r"2 MB do not fit into .*, where 201 MB are free"):
        copier.copy_backups()

    assert not list(empty.glob("bucket.new*"))
    assert copier._bucket.sizes() == {}


def test_what_is_brought_from_the_bucket_leaves_the_shop_its_room(empty, target, given, monkeypatch):
    name = made_at(target, now())
    manifest = read_json(target / name / "manifest.json")
    write_json(target / name / "manifest.json", {**manifest, "size": 2_000_000})
    copier_of(empty, given, target).copy_backups()
    with_little_room(monkeypatch)
    options = SimpleNamespace(source=BUCKET, to=None, key=Path(given["KEY"]))

    with pytest.raises(LaunchError, match="2 MB do not fit"), fetched(Project(empty, given), options, print):
        pass

    assert not (empty / "fetched").exists()


def test_what_one_command_brings_from_the_bucket_no_other_one_deletes(empty, target, given):
    made_at(target, now())
    copier_of(empty, given, target).copy_backups()
    project, options = Project(empty, given), SimpleNamespace(source=BUCKET, to=None, key=Path(given["KEY"]))

    with fetched(project, options, print) as folder:
        with pytest.raises(DataFolderInUseError), fetched(project, options, print):
            pass
        assert backups_in(folder)


def test_nothing_is_brought_from_the_bucket_to_a_shop(folder, given):
    away = {**given, "BACKUP_BUCKET_ENDPOINT": "http://127.0.0.1:9"}

    result = run("restore", "--from", BUCKET, "--key", given["KEY"], data=folder, **away)

    assert result.returncode == 1
    assert "holds data" in result.stderr


def test_after_any_fault_the_next_turn_comes(empty, target, given):
    copier = copier_of(empty, given, target)

    def copy_backups() -> None:
        raise KeyError(name)

    name = "first_segment"
    take_turn(copier, copy_backups)

    assert copier.faults == {"copy_backups": "KeyError('first_segment')"}


def test_a_folder_is_sealed_whole_and_another_key_does_not_open_it(tmp_path, target):
    name = made_at(target, now())
    (target / name / "database/base").write_bytes(bytes(3_000_000))
    identity, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    seal_folder(target / name, str(identity.to_public()), tmp_path / "sealed")

    open_folder(tmp_path / "sealed", identity, tmp_path / "opened")

    (opened,) = named_by_time(tmp_path / "opened")
    assert (opened / "database/base").stat().st_size == 3_000_000
    with pytest.raises(pyrage.DecryptError):
        open_folder(tmp_path / "sealed", other, tmp_path / "nothing")


def test_what_was_put_into_the_bucket_by_somebody_else_leaves_no_folder(tmp_path):
    identity = pyrage.x25519.Identity.generate()
    for evil in ("../out", "/out", "link"):
        member = tarfile.TarInfo(evil)
        if evil == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
        with gzip.open(tmp_path / "packed", "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
            tar.addfile(member)
        (tmp_path / "sealed").write_bytes(pyrage.encrypt((tmp_path / "packed").read_bytes(), [identity.to_public()]))

        with pytest.raises(LaunchError, match="does not belong"):
            open_folder(tmp_path / "sealed", identity, tmp_path / "into")

        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "into").exists()


def test_what_keeps_a_restore_from_a_bucket_is_a_sentence(empty, given):
    key = ["--key", given["KEY"]]
    for words, changed, sentence in [
        ([], {}, "name the private key"),
        (key, {}, "There is no finished backup in s3://shop/backups"),
        (key, {"BACKUP_BUCKET_SECRET": ""}, "needs BACKUP_BUCKET_SECRET"),
        (key, {"BACKUP_BUCKET_ENDPOINT": "http://127.0.0.1:9"}, "does not answer"),
    ]:
        result = run("restore", "--from", BUCKET, *words, data=empty, **{**given, **changed})

        assert result.returncode != 0, sentence
        assert sentence in result.stderr
        assert "Traceback" not in result.stderr


def test_another_key_does_not_open_the_bucket(empty, target, given, tmp_path):
    made_at(target, now())
    copier_of(tmp_path, given, target).copy_backups()
    make_key(tmp_path / "other.key")

    result = run("restore", "--from", BUCKET, "--key", str(tmp_path / "other.key"), data=empty, **given)

    assert result.returncode == 1
    assert "does not open what is in this bucket" in result.stderr
    assert json.dumps(sorted(path.name for path in empty.iterdir())) == "[]"


def test_a_wrong_setting_is_a_sentence(empty, given):
    for changed, sentence in [
        ({"BACKUP_BUCKET": "shop"}, "write s3://"),
        ({"BACKUP_BUCKET_KEY_ID": ""}, "needs BACKUP_BUCKET_KEY_ID"),
        ({"BACKUP_BUCKET_ENDPOINT": "s3.example.com"}, "must be https://HOST"),
        ({"BACKUP_BUCKET_ENDPOINT": "http://s3.example.com"}, "must be https://HOST"),
    ]:
        settings = {name: value for name, value in {**given, **changed}.items() if value}

        with pytest.raises(LaunchError, match=sentence) as refusal:
            Bucket(Project(empty, settings), settings["BACKUP_BUCKET"])
        assert not isinstance(refusal.value, BucketError)
