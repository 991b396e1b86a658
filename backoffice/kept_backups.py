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
    rows = []
    for path in sorted(Path(settings.BACKUP_TO).glob("*Z/manifest.json"), reverse=True) if settings.BACKUP_TO else ():
        with suppress(OSError, ValueError):
            manifest = json.loads(path.read_text())
            rows.append(
                {**manifest, "at": parse_datetime(manifest["ended_at"]), "megabytes": manifest["size"] // 10**6}
            )
    return rows


def log_is_copied() -> bool:
    """Whether the copy of the log goes on now, so that only moments can be lost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT bool_or(active) FROM pg_replication_slots WHERE slot_name = 'backoffice_backup'")
        return bool(cursor.fetchone()[0])
