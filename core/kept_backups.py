"""Reads the backups that `./run backup` left in BACKUP_TO, the log's copies there and in BACKUP_BUCKET, and drills."""

import datetime as dt
import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from core.slow_disk import SlowDisk

# `./run` makes a backup each night; after this long the next one is late.
LATE = dt.timedelta(hours=26)
# The work of at most this many seconds may be lost with the disk.
MOST_AT_RISK = 60
# Enough for a first backup of 18 GB, at 20 MB a second; also for the one that is due when a shop that was off starts.
FIRST_BACKUP = dt.timedelta(minutes=15)
# A bucket is slower than a disk; copying that stands still for longer does not go on by itself.
BUCKET_LATE = dt.timedelta(minutes=3)
# Enough to send a backup of 20 GB over a line of 10 Mbit/s, compressed to half.
BACKUP_SENT = dt.timedelta(hours=6)
# No page waits longer (seconds) for a folder that does not answer.
_disk = SlowDisk(2.0)
T = TypeVar("T")


def _of_folder(question: Callable[[], T], otherwise: T) -> T:
    """The answer to a question about BACKUP_TO; `otherwise` if its disk does not answer."""
    try:
        return _disk.ask(question)
    except TimeoutError:
        return otherwise


def folder_answers() -> bool:
    """Whether the disk of BACKUP_TO answers, even if the folder is not there. True without BACKUP_TO."""

    def asked() -> bool:
        Path(settings.BACKUP_TO).exists()
        return True

    return not settings.BACKUP_TO or _of_folder(asked, otherwise=False)


def kept_backups() -> list[dict[str, Any]]:
    """The finished backups of BACKUP_TO by their manifests, the newest first."""
    if not settings.BACKUP_TO:
        return []

    def read() -> list[dict[str, Any]]:
        paths = sorted(Path(settings.BACKUP_TO).glob("*Z/manifest.json"), reverse=True)
        return [backup for backup in map(_backup_of, paths) if backup]

    return _of_folder(read, [])


def last_backup() -> dict[str, Any] | None:
    """The newest backup, wherever `./run backup FOLDER` wrote it; None before the first one."""
    return _backup_of(settings.DATA_DIR / "last-backup.json")


def _backup_of(path: Path) -> dict[str, Any] | None:
    """The backup that a manifest describes; None when the manifest cannot be read."""
    with suppress(OSError, ValueError, KeyError):
        manifest = json.loads(path.read_text())
        return {**manifest, "at": parse_datetime(manifest["ended_at"]), "megabytes": manifest["size"] // 10**6}
    return None


def _time_of(name: str) -> dt.datetime:
    """The time at which the backup or the copy of the log with this name began."""
    return dt.datetime.strptime(f"{name}+0000", "%Y%m%d-%H%M%SZ%z")


def is_backed_up_here() -> bool:
    """Whether `./run` makes the backups; it makes none of a PostgreSQL that DATABASE_URL names."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'backoffice_backup')")
        return bool(cursor.fetchone()[0])


def started_at() -> dt.datetime:
    """The time of the last start of `./run`, where `is_backed_up_here()`: its PostgreSQL starts and stops with it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time()")
        started: dt.datetime = cursor.fetchone()[0]
        return started


def failed_backup() -> tuple[dt.datetime, str] | None:
    """The time and the reason of the last failed nightly backup; None without one, or when a backup was made since."""
    with suppress(OSError, ValueError, KeyError):
        written = json.loads((settings.DATA_DIR / "backup-fault.json").read_text())
        at = dt.datetime.fromisoformat(written["at"])
        newest = last_backup()
        if newest is None or newest["at"] < at:
            return at, written["fault"]
    return None


def has_copied_log() -> bool:
    """Whether anything of the copied log lies in BACKUP_TO: without it a backup is restored to its own moment alone."""
    return _of_folder(lambda: any(Path(settings.BACKUP_TO).glob("wal/*Z/*")), otherwise=False)


def first_backup_since() -> dt.datetime | None:
    """The time since which a new or restored shop makes its first backup; None when there is one, or it is late.

    `./run` begins a new copy of the log then, and a backup at once.
    """
    if not settings.BACKUP_TO or copied_until() or failed_backup():
        return None
    copies = list[Path]()
    copies = _of_folder(lambda: list(Path(settings.BACKUP_TO).glob("wal/????????-??????Z")), copies)
    since = max((_time_of(folder.name) for folder in copies), default=None)
    if since is None or timezone.now() - since > FIRST_BACKUP or any(row["at"] >= since for row in kept_backups()):
        return None
    return since


def unreadable_backups() -> list[str]:
    """The folders of backups in BACKUP_TO whose manifest is damaged or missing: they do not count as backups."""

    def read() -> list[str]:
        folders = Path(settings.BACKUP_TO).glob("????????-??????Z")
        return sorted(folder.name for folder in folders if _backup_of(folder / "manifest.json") is None)

    return _of_folder(read, []) if settings.BACKUP_TO else []


def copied_until() -> dt.datetime | None:
    """The time until which every commit can be restored from BACKUP_TO; None before the first backup there.

    The launcher measures it every few seconds (`launcher/archiving.py`). Later commits would be lost with the disk.
    """
    with suppress(OSError, ValueError, KeyError):
        return dt.datetime.fromisoformat(json.loads((settings.DATA_DIR / "log-copied.json").read_text())["until"])
    return None


def seconds_at_risk() -> int | None:
    """The whole seconds of work, rounded up, that would be lost with the disk now; None before the first backup."""
    until = copied_until()
    return None if until is None else max(0, math.ceil((timezone.now() - until).total_seconds()))


class InBucket(NamedTuple):
    """The state of the bucket: the time until which it has all commits, its newest backup, why copying stands still.

    `compared_at`: when it was last compared with the copied objects; `lost`: the number of objects that were missing
    or changed then; `names`: the first of them. `newest`: when the newest backup in BACKUP_TO was begun.
    """

    until: dt.datetime | None = None
    backup: dt.datetime | None = None
    fault: str = ""
    compared_at: dt.datetime | None = None
    lost: int = 0
    names: str = ""
    newest: dt.datetime | None = None

    @property
    def lacks_backup(self) -> bool:
        """Whether the newest backup should be in it by now: the log alone goes on for any time."""
        if self.newest is None or (self.backup is not None and self.backup >= self.newest):
            return False
        return timezone.now() - self.newest > BACKUP_SENT

    @property
    def is_late(self) -> bool:
        """Whether it is too far behind to count as a second copy."""
        return self.until is None or timezone.now() - self.until > BUCKET_LATE


def in_bucket() -> InBucket | None:
    """The state of BACKUP_BUCKET, as its process noted it (`launcher/bucket_copies.py`); None without a bucket."""
    if not settings.BACKUP_BUCKET:
        return None
    with suppress(OSError, ValueError, KeyError):
        noted = json.loads((settings.DATA_DIR / "bucket-copied.json").read_text())
        until = dt.datetime.fromisoformat(noted["until"]) if noted["until"] else None
        backup = _time_of(noted["backup"]) if noted["backup"] else None
        newest = _time_of(noted["newest"]) if noted.get("newest") else None
        compared = noted.get("compared") or {"at": None, "lost": 0, "names": []}
        compared_at = dt.datetime.fromisoformat(compared["at"]) if compared["at"] else None
        names = ", ".join(compared["names"])
        return InBucket(until, backup, noted["fault"], compared_at, compared["lost"], names, newest)
    return InBucket()


@dataclass(frozen=True)
class Drill:
    """The last drill. `fault`: why the backup was not proved; "" when it was. `known_until`: the copy's last moment."""

    at: dt.datetime
    backup: str
    seconds: float
    orders: int
    entries: int
    known_until: dt.datetime | None
    fault: str


def last_drill() -> Drill | None:
    """The last one on this machine, from a folder; None before the first."""
    return _drill_of("drill.json")


def last_bucket_drill() -> Drill | None:
    """The last one from the bucket, wherever a person has made it with the key; None before the first."""
    return _drill_of("bucket-drill.json")


def _drill_of(name: str) -> Drill | None:
    try:
        written = json.loads((settings.DATA_DIR / name).read_text())
        known = written.get("known_until")
        return Drill(
            at=dt.datetime.fromisoformat(written["at"]),
            backup=written.get("backup", ""),
            seconds=written.get("seconds", 0.0),
            orders=written.get("orders", 0),
            entries=written.get("entries", 0),
            known_until=dt.datetime.fromisoformat(known) if known else None,
            fault=written.get("fault", ""),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
