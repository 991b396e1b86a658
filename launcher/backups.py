"""A folder of backups: its backups, their manifests, which of them are kept, and its write-ahead log.

20261126-190000Z/            a backup; its name is the time at which it began (UTC)
    manifest.json            version, time, size, counts, the audit's last checkpoint
    database/                PostgreSQL's files, as `pg_basebackup` copies them
    secrets.age              secrets, keys and `.env`, encrypted for BACKUP_RECIPIENT
.20261126-190000Z.new/       one that is being made, or was cut off
wal/20261126-185901Z/        the log since then, without a gap (`launcher/archiving.py`)
sent/20261126-4f1d2c3b.jsonl the journal of that day's sent orders (`launcher/sent_copies.py`)
"""

import contextlib
import datetime as dt
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from launcher.data_folder import read_json
from launcher.output import LaunchError

NAME = "%Y%m%d-%H%M%SZ"
KEPT = (7, 4, 12)  # days, weeks, months
SEGMENT_BYTES = 16 * 1024 * 1024
PARTIAL = ".partial"
_SEGMENT = re.compile(r"[0-9A-F]{24}(\.partial)?")
HALF_RECORD_BYTES = 64 * 1024  # a longer last record that is half copied counts as damage
_CHUNK_BYTES = 1024 * 1024
_PAGE_BYTES, _PAGE_HEAD, _SEGMENT_HEAD, _RECORD_HEAD = 8192, 24, 40, 24  # of the log
ANOTHER = (
    "use another backup (`./run restore --from` takes the folder of an older one; the copied log goes on from there: "
    "docs/backup.md), and look after that disk."
)


@dataclass(frozen=True)
class Backup:
    """A finished backup. `manifest`: its own description, from `manifest.json`."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def began(self) -> dt.datetime:
        return time_of(self.folder.name)

    @property
    def ended(self) -> dt.datetime:
        """The earliest moment to which the shop can be restored from it."""
        return dt.datetime.fromisoformat(self.manifest["ended_at"])

    @property
    def first_segment(self) -> int:
        """The number of the first segment of the write-ahead log that it needs; LaunchError when that is not known."""
        path = self.folder / "database/backup_manifest"
        try:
            high, low = read_json(path)["WAL-Ranges"][0]["Start-LSN"].split("/")
            return ((int(high, 16) << 32) + int(low, 16)) // SEGMENT_BYTES
        except (LookupError, TypeError, ValueError, AttributeError):
            raise LaunchError(f"{path} is damaged or missing: {ANOTHER}") from None


def new_name() -> str:
    """The name of a backup or a log copy that begins now."""
    return dt.datetime.now(dt.UTC).strftime(NAME)


def time_of(name: str) -> dt.datetime:
    """The time at which the backup or log copy of this name began."""
    return dt.datetime.strptime(name, NAME).replace(tzinfo=dt.UTC)


def named_by_time(folder: Path) -> list[Path]:
    """The folders in it whose name is a time, the oldest first."""
    rows = []
    for path in sorted(folder.glob("*Z")):
        with contextlib.suppress(ValueError):
            time_of(path.name)
            rows.append(path)
    return rows


def backups_in(folder: Path) -> list[Backup]:
    """The finished backups, the oldest first."""
    rows = [Backup(path, read_json(path / "manifest.json")) for path in named_by_time(folder)]
    return [backup for backup in rows if "ended_at" in backup.manifest]


def unreadable(folder: Path) -> list[Path]:
    """The backups whose manifest is damaged or missing, the oldest first: they do not count as backups."""
    return [path for path in named_by_time(folder) if "ended_at" not in read_json(path / "manifest.json")]


def refuse_another_shops(folder: Path, identifier: str) -> None:
    """LaunchError when one of the backups there belongs to another database, or does not say to which."""
    if any(backup.manifest.get("database") != identifier for backup in backups_in(folder)):
        raise LaunchError(f"{folder} holds the backups of another database: name a folder for this one alone.")


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder, so that one backup at a time is made there; LaunchError when it cannot be used."""
    if not folder.is_dir():
        raise LaunchError(f"There is no folder {folder}: make it, or mount its disk, and call this again.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LaunchError(f"You may not write in {folder}: give yourself the right, or name another folder.")
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise LaunchError(f"Another backup is being made in {folder}: wait until it has ended.") from None
    finally:
        os.close(lock)


def delete_old(folder: Path, kept: tuple[int, int, int] = KEPT) -> None:
    """Delete backups beyond this many days, weeks and months, and the log and the journal from before these days.

    All backups of the last days are kept: after a restore to a wrong moment somebody may need another backup.
    LaunchError when the oldest backup of these days is damaged, or one has a later time than now: the log and the
    journal stay as they are, since such a backup may need them instead.
    """
    rows = {backup.began: backup for backup in backups_in(folder)}
    left = to_keep(rows, kept)
    for began, backup in rows.items():
        if began not in left:
            shutil.rmtree(backup.folder, ignore_errors=True)
    if later := later_than_now(rows):
        raise LaunchError(
            f"{rows[max(later)].folder} has a later time than this machine's clock: correct the clock, or delete that "
            "folder when a newer backup is there."
        )
    if first := first_of_days(rows, kept):
        delete_log_before(folder / "wal", rows[first].first_segment)
        delete_days_before(folder / "sent", first)


def to_keep(times: Iterable[dt.datetime], kept: tuple[int, int, int]) -> set[dt.datetime]:
    """The times of the backups to keep, from the times at which all backups began.

    A backup with a later time than now is kept, and counts for no day, week or month: the clock is, or was, wrong.
    """
    _days, weeks, months = kept
    all_times = set(times)
    later = later_than_now(all_times)
    newest_first = sorted(all_times - later, reverse=True)
    of_weeks = newest_of_each(newest_first, weeks, lambda at: at.isocalendar()[:2])
    of_months = newest_of_each(newest_first, months, lambda at: (at.year, at.month))
    first = first_of_days(newest_first, kept)
    return {*later, *of_weeks, *of_months, *(at for at in newest_first if first and at >= first)}


def later_than_now(times: Iterable[dt.datetime]) -> set[dt.datetime]:
    """The times that this machine's clock has not reached."""
    now = dt.datetime.now(dt.UTC)
    return {at for at in times if at > now}


def first_of_days(times: Iterable[dt.datetime], kept: tuple[int, int, int]) -> dt.datetime | None:
    """The oldest backup of the last days, from which any later moment can be restored; None without a backup."""
    rows = sorted(times)
    return next((at for at in rows if at > rows[-1] - dt.timedelta(days=kept[0])), None)


def newest_of_each(times: list[dt.datetime], count: int, period: Callable[[dt.datetime], object]) -> list[dt.datetime]:
    """The newest time in each of the last `count` periods that have one; `times` begin with the newest."""
    newest: dict[object, dt.datetime] = {}
    for at in times:
        newest.setdefault(period(at), at)
    return list(newest.values())[:count]


def delete_log_before(log: Path, segment: int) -> None:
    """Delete the segments before this number, and folders that are empty then, except the newest, which is in use."""
    folders = named_by_time(log)
    for folder in folders:
        for file in folder.iterdir():
            if is_segment(file.name) and number_of(file) < segment:
                file.unlink()
    for folder in folders[:-1]:
        if not any(path.suffix != ".history" for path in folder.iterdir()):
            shutil.rmtree(folder)


def delete_days_before(sent: Path, moment: dt.datetime) -> None:
    """Delete the files of days before this one; the files' names begin with their days."""
    for name in days_before((path.name for path in sent.glob("????????*.jsonl")), moment):
        (sent / name).unlink(missing_ok=True)


def days_before(names: Iterable[str], moment: dt.datetime) -> Iterator[str]:
    """The names that begin with a day before this moment's."""
    for name in names:
        with contextlib.suppress(ValueError):
            if dt.datetime.strptime(name[:8], "%Y%m%d").replace(tzinfo=dt.UTC).date() < moment.date():
                yield name


def is_segment(name: str) -> bool:
    """Whether a file of this name is a segment of the write-ahead log; PostgreSQL and others leave other files, too."""
    return _SEGMENT.fullmatch(name) is not None


def number_of(file: Path) -> int:
    """The number of a segment of the write-ahead log, in any timeline."""
    return int(file.name[8:16], 16) * (2**32 // SEGMENT_BYTES) + int(file.name[16:24], 16)


def newest_timeline(segments: Sequence[Path]) -> list[Path]:
    """The segments of the newest timeline, in order; an older timeline ends where a restored shop began."""
    log = [file for file in segments if file.suffix != ".history"]
    return sorted((file for file in log if file.name[:8] == max(file.name[:8] for file in log)), key=number_of)


def end_of_log(segments: Sequence[Path]) -> int:
    """Where the copied log ends now, in bytes; 0 for none. It grows while the shop sells."""
    for file in reversed(newest_timeline(segments)):
        with open_segment(file) as segment:
            if content := segment.read().rstrip(b"\0"):
                return number_of(file) * SEGMENT_BYTES + len(content)
    return 0


def unread(segments: Sequence[Path], *, read_to: int, end: int) -> Path | None:
    """The segment in which reading ended although the copied log goes on: it is damaged or has a gap; else None.

    `read_to`: where reading ended, in bytes. `end`: the end of the log before it was read. The record that could not
    be read may be the last one, half copied: then nothing follows its end.
    """
    log = newest_timeline(segments)
    if end <= min(end_of_record(log, read_to), read_to + HALF_RECORD_BYTES):
        return None
    return next(file for file in log if number_of(file) >= read_to // SEGMENT_BYTES)


def end_of_record(log: Sequence[Path], position: int) -> int:
    """Where the record that begins after this position of the log would end, in bytes, by the length that it names."""

    def behind_head(place: int) -> int:
        """The same place, or the end of the page header if a page begins there."""
        if place % _PAGE_BYTES:
            return place
        return place + (_PAGE_HEAD if place % SEGMENT_BYTES else _SEGMENT_HEAD)

    start = behind_head((position + 7) // 8 * 8)
    length = int.from_bytes(bytes_at(log, start, 4), "little")
    if length < _RECORD_HEAD:  # no record
        return start
    place, left = start, length
    while (room := _PAGE_BYTES - place % _PAGE_BYTES) < left:
        place, left = behind_head(place + room), left - room
    return place + left


def bytes_at(log: Sequence[Path], position: int, count: int) -> bytes:
    """These bytes of the log; b"" where there is no segment."""
    for file in log:
        if number_of(file) == position // SEGMENT_BYTES:
            with open_segment(file) as segment:
                segment.seek(position % SEGMENT_BYTES)
                return segment.read(count)
    return b""


def open_segment(file: Path) -> IO[bytes]:
    """Open a segment of the copied log; meanwhile a partial one may become whole and lose `.partial`."""
    try:
        return file.open("rb")
    except FileNotFoundError:
        return file.with_name(file.name.removesuffix(PARTIAL)).open("rb")


def verify_files(database: Path, *, most: int = 0) -> None:
    """LaunchError unless a copy has exactly the files of its list, each with its size and checksum.

    `most`: the most bytes that it reads in a second, so that the shop can sell; 0: no limit.
    """
    path = database / "backup_manifest"
    try:
        written = path.read_bytes()
        rows = json.loads(written)
        checksum = rows["Manifest-Checksum"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        raise LaunchError(f"{path} is damaged or missing: {ANOTHER}") from None
    listed = written[: written.rstrip().rfind(b"\n") + 1]
    if hashlib.sha256(listed).hexdigest() != checksum:
        raise LaunchError(f"The list of files of {database} was changed: {ANOTHER}")
    names, pace = {row["Path"] for row in rows["Files"]}, Pace(most)
    for row in rows["Files"]:
        path = database / row["Path"]
        if not path.is_file() or path.stat().st_size != row["Size"] or digest(path, pace) != row["Checksum"]:
            raise LaunchError(f"{path} is not as it was copied: {ANOTHER}")
    for path in database.rglob("*"):
        name = path.relative_to(database).as_posix()
        if path.is_file() and name not in {*names, "backup_manifest"} and not name.startswith("pg_wal/"):
            raise LaunchError(f"{path} was added to the backup: {ANOTHER}")


def log_of(database: Path) -> dict[str, str]:
    """The SHA-256 of each file of the log in a copy: PostgreSQL's list of files leaves them out."""
    return {path.name: digest(path) for path in sorted((database / "pg_wal").iterdir()) if path.is_file()}


def verify_log(database: Path, listed: Mapping[str, str]) -> None:
    """LaunchError unless the log in a copy is as it was made; `listed`: its `log_of` then, empty in older backups."""
    for name, checksum in listed.items():
        path = database / "pg_wal" / name
        if not path.is_file() or digest(path) != checksum:
            raise LaunchError(f"{path} is not as it was copied: {ANOTHER}")


class Pace:
    """A limit of bytes read in a second; 0 for none."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._started, self._done = time.monotonic(), 0

    def wait(self, count: int) -> None:
        """Wait until reading this many more bytes stays within the limit."""
        self._done += count
        if self.most:
            time.sleep(max(0.0, self._started + self._done / self.most - time.monotonic()))


def digest(path: Path, pace: Pace | None = None) -> str:
    """The SHA-256 of a file. With a limited pace, the file leaves the page cache, which the shop needs for its own."""
    checksum = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            checksum.update(chunk)
            if pace:
                pace.wait(len(chunk))
        if pace and pace.most:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return checksum.hexdigest()


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder; files may go meanwhile."""
    size = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            size += file.lstat().st_size
    return size


def flush(folder: Path) -> None:
    """Write the names in a folder to its disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
