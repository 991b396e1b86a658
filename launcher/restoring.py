"""`./run restore --from FOLDER`: restores a shop from a backup and the copied log into an empty data folder.

The restored shop sells nothing until a person opens it: a mark in the database says so (docs/backup.md).
"""

import argparse
import contextlib
import datetime as dt
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyrage

from launcher import ROOT
from launcher.backing_up import facts_of, refuse_foreign_database
from launcher.backups import (
    PARTIAL,
    SEGMENT_BYTES,
    Backup,
    backups_in,
    end_of_log,
    is_segment,
    named_by_time,
    number_of,
    unread,
    unreadable,
    verify_log,
)
from launcher.bucket import BACKUP, SCHEME, SEALED, Bucket, manifests_in, open_file, open_folder, require_room
from launcher.commands import DEFAULT_PORT
from launcher.data_folder import DataFolderInUseError, held, new_file
from launcher.encrypting import OF_DATA_FOLDER, SETTINGS, open_secrets, private_key
from launcher.output import LaunchError, Say
from launcher.postgresql import PostgreSQL
from launcher.processes import ProcessGroup
from launcher.project import Project, read_project
from launcher.shop_time import in_words
from launcher.stack import APP_DATABASE, Stack

TARGET_NOT_REACHED = "recovery ended before configured recovery target was reached"
LAST_COMMIT = re.compile(r"last completed transaction was at log time (\S+ \S+)")
DAMAGED = (
    "{} is damaged, and nothing of the copied log behind it can be read: what was sold later is in the journal alone. "
    "Make a new backup at once, and look after that disk."
)
NO_LOG = (
    "There is no copied log in {}: the backup can be restored to its own moment alone, {}. What was done later is {}"
)
HOLDS_DATA = "{} holds data, and nothing is restored over it: name an empty folder with BACKOFFICE_DATA."
NO_MANIFEST = "{}/manifest.json is damaged or missing: look after that disk."
IN_JOURNAL = "lost, but for the orders that the journal beside it knows: they are taken in from there."
NO_JOURNAL = "lost. There is no journal (sent/) either: compare the provider's list with the orders of that time."
FOLDER = "fetched/backups"  # beside the lock of the command that brings them
NO_KEY = "All in a bucket is encrypted: name the private key that opens it, --key FILE."
WRONG_KEY = "The key in {} does not open what is in this bucket: name the right one."


def run(group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Restore, and say what was restored; the shop does not run afterwards."""
    project = read_project()
    refuse_foreign_database(project)
    try:
        if not options.source.startswith(SCHEME):
            return restore(group, say, options, project, Path(options.source).resolve())
        if not project.restoring.exists():
            refuse_shop(project)  # now, because what is brought goes to the disk of that shop
        with fetched(project, options, say) as source:
            return restore(group, say, options, project, source)
    except DataFolderInUseError:
        raise LaunchError(
            f"The data folder {project.data} is in use: stop ./run there, or wait until the other restore has ended."
        ) from None
    except OSError as error:
        raise LaunchError(f"The restore cannot go on ({error}): correct this, and call it again.") from error


def restore(group: ProcessGroup, say: Say, options: argparse.Namespace, project: Project, source: Path) -> int:
    """Restore from a folder of backups, or from the folder of one, and say what was restored."""
    if options.to:
        say(f"--to is understood as {in_words(options.to)}")
    backup = choose(source, options.to)
    for words in passed_over(source, backup):
        say(f"Warning: {words}")
    if words := without_log(backup):
        if options.to and options.to > backup.ended:
            raise LaunchError(f"{words} Call this without --to.")
        say(f"Warning: {words}")
    begin_again(project, backup)
    require_empty(project, backup)
    sealed = backup.folder / "secrets.age"
    files = open_secrets(sealed.read_bytes(), options.key) if sealed.exists() and options.key else {}
    if sealed.exists() and not files:
        raise LaunchError(f"Name the private key that opens {sealed}: --key FILE.")
    keep_settings(files, say)
    if (again := read_project()).data != project.data:
        raise LaunchError(f".env is in place again and names the data folder {again.data}: call this again.")
    project = again
    project.make_ready()
    require_room(project.data, size_to_restore(backup))
    with held(project.data):
        project.restoring.touch()
        write_secrets(project, files)
        say(f"The backup {backup.folder.name} of version {backup.manifest['version']} is compared with its list")
        recovered, fault = recover(project, group, backup, options.to, say)
        bring_journal(backup.folder.parent, project)
        orders = finish(project, group, recovered)
        project.restoring.unlink()
    say(f"Restored: {orders} orders, with all that was committed until {in_words(recovered)}.")
    if fault:
        say(f"Warning: {fault}")
    say("./run starts the shop. It sells nothing until somebody has looked at the page Backups and opens it.")
    return 0


def choose(source: Path, to: dt.datetime | None) -> Backup:
    """The newest backup from which this moment (None: the latest) can be reached; LaunchError when there is none.

    `source`: the folder of all backups, or the folder of one, which is then the only candidate.
    """
    if not source.is_dir():
        raise LaunchError(f"There is no folder {source}: mount its disk, or name with --from the folder of backups.")
    one = source if source in unreadable(source.parent) or (source / "manifest.json").exists() else None
    backups = [backup for backup in backups_in(source.parent if one else source) if one in {None, backup.folder}]
    if not backups:
        damaged = [f" {NO_MANIFEST.format(folder)}" for folder in unreadable(source.parent if one else source)]
        raise LaunchError(
            f"There is no finished backup in {source}: name a folder that holds some, as 20261126-190000Z is one, or "
            f"one of these.{''.join(damaged)}"
        )
    rows = [backup for backup in backups if to is None or backup.ended <= to]
    if not rows:
        raise LaunchError(
            f"There is no finished backup in {source} from before {in_words(to or backups[0].ended)}: the earliest "
            f"time for --to is {in_words(backups[0].ended)}."
        )
    return rows[-1]


def passed_over(source: Path, backup: Backup) -> list[str]:
    """Warnings about newer backups in the same folder whose manifests cannot be read."""
    newer = [folder for folder in unreadable(source) if folder.name > backup.folder.name]
    return [f"{NO_MANIFEST.format(folder)} {backup.folder.name} takes its place." for folder in newer]


def without_log(backup: Backup) -> str:
    """A warning of what a restore of this backup loses when no copied log lies beside it; "" when one does."""
    top = backup.folder.parent
    if any(file.suffix != ".history" for file in segments_after(backup)):
        return ""
    has_journal = any((top / "sent").glob("*.jsonl"))
    return NO_LOG.format(top / "wal", in_words(backup.ended), IN_JOURNAL if has_journal else NO_JOURNAL)


def require_empty(project: Project, backup: Backup) -> None:
    """LaunchError when the data folder holds a shop, or when neither it nor this backup has the secrets."""
    refuse_shop(project)
    missing = {name for name in OF_DATA_FOLDER if not (project.data / name).exists()}
    if backup.manifest["secrets"]:
        if "secrets.json" not in missing:
            raise LaunchError(HOLDS_DATA.format(project.data))
    elif missing - ({"audit.key"} if "AUDIT_KEY" in project.given else set()):
        raise LaunchError(
            f"This backup holds no secrets: put your copies of {' and '.join(OF_DATA_FOLDER)} into {project.data} "
            "first (no audit.key where AUDIT_KEY is set)."
        )


def refuse_shop(project: Project) -> None:
    """LaunchError when the data folder holds a database."""
    if (project.data / "postgres").exists():
        raise LaunchError(HOLDS_DATA.format(project.data))


def begin_again(project: Project, backup: Backup) -> None:
    """Delete the files that an interrupted restore has left; secrets that this backup does not bring are not its."""
    if not project.restoring.exists():
        return
    with held(project.data):  # it may still be under way
        home = project.data / "postgres"
        shutil.rmtree(home.resolve(), ignore_errors=True)
        home.unlink(missing_ok=True)  # it may have been a link
        for name in OF_DATA_FOLDER if backup.manifest["secrets"] else ():
            (project.data / name).unlink(missing_ok=True)
        project.restoring.unlink()


def keep_settings(files: Mapping[str, bytes], say: Say) -> None:
    """Put the backup's `.env` in place unless there is one; say so when they differ."""
    here, wanted = ROOT / SETTINGS, files.get(SETTINGS)
    if wanted is None:
        return
    if not here.exists():
        write(here, wanted)
    elif here.read_bytes() != wanted:
        say(f"{here} is another one than the backup's, and stays: compare them (age --decrypt, docs/backup.md).")


def write_secrets(project: Project, files: Mapping[str, bytes]) -> None:
    """Put the secrets into the data folder."""
    for name in OF_DATA_FOLDER:
        if name in files:
            write(project.data / name, files[name])


def write(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    with new_file(path) as file:
        file.write(content.decode())


def recover(
    project: Project, group: ProcessGroup, backup: Backup, to: dt.datetime | None, say: Say
) -> tuple[dt.datetime, str]:
    """Restore the database; returns the time until which it has all commits, and a warning about unreadable log."""
    postgres, copy = PostgreSQL(project.data, group), backup.folder / "database"
    verify_log(copy, backup.manifest.get("log", {}))
    postgres.verify_copy(copy, log=project.logs / "restore.log")
    say("It is as it was made, and is put in place with the log that follows")
    words_before = len(words_of(project))
    try:
        segments = segments_after(backup)
        end = end_of_log(segments)  # before it is copied: a running shop goes on writing it
        last, read_to = postgres.restore(copy, segments, to=to.isoformat() if to else "")
    except LaunchError as error:
        words = words_of(project)[words_before:]
        if to and TARGET_NOT_REACHED in words:
            last_times = [dt.datetime.fromisoformat(found) for found in LAST_COMMIT.findall(words)]
            raise LaunchError(
                f"The copied log ends before {in_words(to)}: the latest time for --to is "
                f"{in_words(max([backup.ended, *last_times]))}. Call this without --to, for all there is."
            ) from error
        raise
    finally:
        postgres.stop()
    damaged = None if to else unread(segments, read_to=read_to, end=end)
    return max(last or backup.ended, backup.ended), DAMAGED.format(damaged) if damaged else ""


def words_of(project: Project) -> str:
    """The text that PostgreSQL has written to the log file of this data folder so far."""
    log = project.logs / "postgres.log"
    return log.read_text(errors="replace") if log.exists() else ""


def bring_journal(folder: Path, project: Project) -> None:
    """Copy the journal of sent orders to the data folder: the app takes in orders from it that the database lacks."""
    sent = project.data / "sent"
    sent.mkdir(mode=0o700, exist_ok=True)
    for path in (folder / "sent").glob("*.jsonl"):
        shutil.copyfile(path, sent / path.name)
        (sent / path.name).chmod(0o600)


def segments_after(backup: Backup) -> list[Path]:
    """The log segments since the backup began. Whole ones come after partial ones, so that they replace these."""
    files = [file for folder in named_by_time(backup.folder.parent / "wal") for file in folder.iterdir()]
    needed = [file for file in files if is_needed(file, backup.first_segment)]
    return sorted(needed, key=lambda file: file.suffix != PARTIAL)


def is_needed(file: Path, first_segment: int) -> bool:
    """Whether this is a segment of the log from this number on, or the history of a timeline."""
    return file.suffix == ".history" or (is_segment(file.name) and number_of(file) >= first_segment)


def size_to_restore(backup: Backup) -> int:
    """The bytes of the backup and of the log that follows it."""
    return int(backup.manifest.get("size", 0)) + SEGMENT_BYTES * len(segments_after(backup))


def finish(project: Project, group: ProcessGroup, recovered: dt.datetime) -> int:
    """Bring the database up to this version and mark it as restored; returns how many orders it has."""
    stack = Stack(project, group)
    try:
        stack.start_stores(web_port=DEFAULT_PORT)
        stack.finish_preparing(stack.manage("prepare_app"))
        (project.data / "opened").touch()  # a demo has its month already
        held_back = stack.manage("hold_restored", "--to", recovered.isoformat())
        stack.finish(held_back, "The restored database could not be marked.")
        assert stack.stores.postgres is not None  # noqa: S101 - for types
        return int(facts_of(stack.stores.postgres.url(APP_DATABASE))["orders"])
    finally:
        stack.stores.stop()


@contextlib.contextmanager
def fetched(project: Project, options: argparse.Namespace, say: Say) -> Iterator[Path]:
    """A folder with the bucket's newest backup from before `--to`, the log and the journal; deleted at the end.

    LaunchError without such a backup, without the key, or when the bucket does not answer; DataFolderInUseError while
    another command brings one.
    """
    if options.key is None:
        raise LaunchError(NO_KEY)
    identity, bucket = private_key(options.key), Bucket(project, options.source)
    folder = project.data / FOLDER
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(folder.parent):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(mode=0o700)
            fetch(bucket, identity, folder, options.to, say)
            yield folder
        except pyrage.DecryptError as error:
            raise LaunchError(WRONG_KEY.format(options.key)) from error
        except OSError as error:
            raise LaunchError(f"Cannot write {folder}: {error.strerror or error}.") from error
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)


def fetch(bucket: Bucket, identity: Any, folder: Path, to: dt.datetime | None, say: Say) -> None:
    """Bring the backup, the log that follows it and the journal from the bucket.

    LaunchError without a backup, or without room for all of it.
    """
    manifests = manifests_in(bucket)
    ended = {name: dt.datetime.fromisoformat(manifest["ended_at"]) for name, manifest in manifests.items()}
    names = [name for name in manifests if to is None or ended[name] <= to]
    if not names:
        before = f" from before {in_words(to)}" if to else ""
        earliest = f": the earliest time for --to is {in_words(min(ended.values()))}" if ended else ""
        raise LaunchError(f"There is no finished backup in {bucket.address}{before}{earliest}.")
    name, sizes = names[-1], bucket.sizes()
    first = manifests[name]["first_segment"]
    log_there = [
        each for each in sizes if each.startswith("wal/") and is_needed(Path(each.removesuffix(SEALED)), first)
    ]
    wanted = [*(each for each in sizes if each.startswith("sent/")), *log_there]
    size = sizes[f"{name}{BACKUP}"] + sum(sizes[each] for each in wanted)
    log = SEGMENT_BYTES * len(log_there)
    require_room(folder, size + int(manifests[name].get("size", 0)) + log)
    say(f"The backup {name} and what follows are brought from the bucket: {size / 1_000_000:.0f} MB")
    sealed = folder / f"{name}{BACKUP}"
    bucket.fetch(sealed.name, sealed)
    open_folder(sealed, identity, folder)
    sealed.unlink()
    for each in wanted:
        path = folder / each.removesuffix(SEALED)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(open_file(bucket.get(each), identity))
