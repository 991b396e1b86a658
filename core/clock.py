"""The clock for due times, leases and grace periods: the database's, the same on every machine."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.utils import timezone

# How often a process reads the clock (seconds); in between it counts by itself.
_READ_EVERY = 60.0
# On Linux `time.monotonic` stands still while the machine sleeps: after a night with a closed lid it would be evening.
_COUNTER = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(frozen=True)
class _Reading:
    at: dt.datetime
    counter: float

    def age(self) -> float:
        """Seconds since the last reading, also while the machine slept; a change of its clock does not matter."""
        return time.clock_gettime(_COUNTER) - self.counter


_latest: list[_Reading] = []
# How far this process's time is from the real one; only `demo_time` sets it.
_shift = dt.timedelta()


def now() -> dt.datetime:
    """The database's time, at most one query's milliseconds ahead. Raises `OperationalError` if it was never reached.

    A machine's clock that is wrong, or is set while we run, moves no due time.
    """
    if not _latest or _latest[0].age() > _READ_EVERY:
        _latest[:] = [_read()]
    reading = _latest[0]
    return reading.at + dt.timedelta(seconds=reading.age()) + _shift


@contextmanager
def demo_time() -> Iterator[Callable[[dt.datetime], None]]:
    """Run this process in another time, which the yielded function sets; a demo's first month is made in it.

    Only `backoffice/demo` calls it, after a check that the books are empty. Raises `ImproperlyConfigured` with a real
    upstream. The history of rows keeps the real time, because the database dates it.
    """
    global _shift  # noqa: PLW0603
    if not settings.SANDBOX:
        raise ImproperlyConfigured("demo time is for the sandbox")
    reached: dt.datetime | None = None

    class Moved(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
            return dt.datetime.now(tz) + _shift

    def move(at: dt.datetime) -> None:
        global _shift
        nonlocal reached
        if reached is not None and at < reached:
            raise ValueError("time goes forward")
        reached, _shift = at, at - dt.datetime.now(dt.UTC)

    # The one place from which `timezone.now` reads, also where it is the default of a field
    vars(timezone)["datetime"] = Moved
    try:
        yield move
    finally:
        _shift = dt.timedelta()
        vars(timezone)["datetime"] = dt.datetime


def _read() -> _Reading:
    """Read the database's time. While the database cannot answer (in a failed transaction), keep the last reading."""
    connection.ensure_connection()
    asked = time.clock_gettime(_COUNTER)
    try:
        row = connection.connection.execute("SELECT clock_timestamp()").fetchone()
    except psycopg.Error:
        if not _latest:
            raise
        return _latest[0]
    return _Reading(row[0], asked)
