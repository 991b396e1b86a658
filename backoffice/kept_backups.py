"""What is in the folder of backups, BACKUP_TO, as `./run backup` left it, and whether the log is copied there."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils.dateparse import parse_datetime


def kept_backups() -> list[dict[str, Any]]:
    """What each finished backup of BACKUP_TO says about itself, the newest first."""
    if not settings.BACKUP_TO:
        return []
    paths = sorted(Path(settings.BACKUP_TO).glob("*Z/manifest.json"), reverse=True)
    return [backup for backup in map(_backup_of, paths) if backup]


def backup_by_hand() -> dict[str, Any] | None:
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


def log_is_copied() -> bool:
    """Whether the copy of the log goes on now, so that only moments can be lost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT bool_or(active) FROM pg_replication_slots WHERE slot_name = 'backoffice_backup'")
        return bool(cursor.fetchone()[0])
