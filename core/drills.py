"""What the last drills of a restore have said (`launcher/drilling.py`): from the folder of backups, and a bucket."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True)
class Drill:
    """The last drill. `fault`: why the backup was not proved; "" when it was. `known_until`: of the restored copy."""

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
