"""The clock for due times, leases and grace periods: the database's, the same on every machine."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass

import psycopg
from django.db import connection

# How often a process reads the clock (seconds); in between it counts by itself.
_READ_EVERY = 60.0


@dataclass(frozen=True)
class _Reading:
    at: dt.datetime
    counter: float

    def age(self) -> float:
        """Seconds since it was read; a change of this machine's clock does not matter."""
        return time.monotonic() - self.counter


_latest: list[_Reading] = []


def now() -> dt.datetime:
    """The database's time, at most one question's milliseconds ahead. `OperationalError` if it was never reached.

    A machine whose clock is wrong, or is set while we run, moves no due time.
    """
    if not _latest or _latest[0].age() > _READ_EVERY:
        _latest[:] = [_read()]
    reading = _latest[0]
    return reading.at + dt.timedelta(seconds=reading.age())


def _read() -> _Reading:
    """Ask the database; when it cannot be asked now (a transaction that has failed), go on with the last reading."""
    connection.ensure_connection()
    asked = time.monotonic()
    try:
        row = connection.connection.execute("SELECT clock_timestamp()").fetchone()
    except psycopg.Error:
        if not _latest:
            raise
        return _latest[0]
    return _Reading(row[0], asked)
