"""What is in the folder of backups, BACKUP_TO, as `./run backup` left it, and until when the log is copied there."""

from __future__ import annotations

import datetime as dt
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

# `./run` makes one each night.
LATE = dt.timedelta(hours=26)
# So much of the work, in seconds, may be lost with the disk at most.
MOST_AT_RISK = 60


def kept_backups() -> list[dict[str, Any]]:
    """What each finished backup of BACKUP_TO says about itself, the newest first."""
    if not settings.BACKUP_TO:
        return []
    paths = sorted(Path(settings.BACKUP_TO).glob("*Z/manifest.json"), reverse=True)
    return [backup for backup in map(_backup_of, paths) if backup]


def last_backup() -> dict[str, Any] | None:
    """The newest backup, wherever `./run backup FOLDER` wrote it; None before the first one."""
    return _backup_of(settings.DATA_DIR / "last-backup.json")


def _backup_of(path: Path) -> dict[str, Any] | None:
    """What a backup's manifest says about it; None when it cannot be read."""
    with suppress(OSError, ValueError, KeyError):
        manifest = json.loads(path.read_text())
        return {**manifest, "at": parse_datetime(manifest["ended_at"]), "megabytes": manifest["size"] // 10**6}
    return None


def is_backed_up_here() -> bool:
    """Whether `./run` makes the backups: not those of a PostgreSQL that DATABASE_URL names."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'backoffice_backup')")
        return bool(cursor.fetchone()[0])


def failed_backup() -> tuple[dt.datetime, str] | None:
    """When the last backup of a night failed, and why; None when none has, or one was made since."""
    with suppress(OSError, ValueError, KeyError):
        written = json.loads((settings.DATA_DIR / "backup-fault.json").read_text())
        at = dt.datetime.fromisoformat(written["at"])
        newest = last_backup()
        if newest is None or newest["at"] < at:
            return at, written["fault"]
    return None


def copied_until() -> dt.datetime | None:
    """What was committed before this can be restored from BACKUP_TO; None before the first backup there.

    The launcher measures it every few seconds (`launcher/copied_log.py`). What is later would be lost with the disk.
    """
    with suppress(OSError, ValueError, KeyError):
        return dt.datetime.fromisoformat(json.loads((settings.DATA_DIR / "log-copied.json").read_text())["until"])
    return None


def seconds_at_risk() -> int | None:
    """How much of the last work would be lost now, in whole seconds, rounded up; None before the first backup."""
    until = copied_until()
    return None if until is None else max(0, math.ceil((timezone.now() - until).total_seconds()))
