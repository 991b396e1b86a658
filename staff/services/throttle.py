"""Makes each next wait longer after a wrong guess. Counters are our own rows, one for each key.

A guess is counted before it is checked, under the row's lock, so that simultaneous guesses count one by one. A right
guess is subtracted again. A row expires some hours after its last wait, never earlier: no flood pushes it out.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from core import clock
from staff.models import Throttle

_CLEARED_AT_ONCE = 50
_MOST_DOUBLINGS = 20


class Slowed(Exception):
    """The guess was not checked. `seconds`: the time until the next guess is checked."""

    def __init__(self, wait: dt.timedelta) -> None:
        self.seconds = max(1, math.ceil(wait.total_seconds()))
        super().__init__(f"wait {self.seconds} s")


@dataclass(frozen=True)
class Pace:
    """From guess number `free` on there is a wait of `first` seconds, doubled each time, up to `longest`.

    Guesses are forgotten if no other one comes within `kept_hours` after the wait.
    """

    free: int
    first: float
    longest: float
    kept_hours: int = 1

    def wait_after(self, failures: int) -> dt.timedelta:
        """The wait after this many wrong guesses."""
        if failures < self.free:
            return dt.timedelta(0)
        doubled = self.first * 2 ** min(failures - self.free, _MOST_DOUBLINGS)
        return dt.timedelta(seconds=min(doubled, self.longest))


@dataclass(frozen=True)
class Key:
    """The tries that are counted together. The table has names and addresses only as a keyed hash."""

    digest: str
    pace: Pace

    @classmethod
    def of(cls, pace: Pace, kind: str, *parts: object) -> Key:
        """The key of these parts, for instance "account" and a person's key."""
        text = "\0".join(str(part) for part in (kind, *parts))
        return cls(salted_hmac("staff.throttle", text, algorithm="sha256").hexdigest(), pace)


def take(*keys: Key) -> int:
    """Count one guess under each of `keys`; returns the seconds in which nobody may guess if it is wrong.

    Raises `Slowed`, and counts nothing, if one of the keys has to wait.

    Call it outside of any transaction that may roll back.
    """
    now = clock.now()
    clear_expired(now, at_most=_CLEARED_AT_ONCE)
    with transaction.atomic():
        waits = [_take(key, now) for key in keys]
    return math.ceil(max(waits).total_seconds())


def give_back(*keys: Key) -> None:
    """Subtract a right guess again. A wait that other people's wrong guesses caused stays."""
    now = clock.now()
    for key in keys:
        row = Throttle.objects.filter(key=key.digest, failures__gte=1)
        row.filter(failures__lte=key.pace.free).update(blocked_until=now)
        row.update(failures=F("failures") - 1)


def forget(*keys: Key) -> None:
    """Begin again: a person who knows the secret may have mistyped it before."""
    Throttle.objects.filter(key__in=[key.digest for key in keys]).delete()


def clear_expired(now: dt.datetime, *, at_most: int) -> int:
    """Delete expired rows that nobody has locked; returns how many."""
    ended = Throttle.objects.filter(expires_at__lte=now).order_by("expires_at")
    with transaction.atomic():
        keys = list(ended.select_for_update(skip_locked=True).values_list("pk", flat=True)[:at_most])
        return Throttle.objects.filter(pk__in=keys).delete()[0] if keys else 0


_LOCKED = """
    INSERT INTO staff_throttle AS kept (key, failures, blocked_until, expires_at)
    VALUES (%(key)s, 0, %(now)s, %(now)s)
    ON CONFLICT (key) DO UPDATE SET failures = kept.failures
    RETURNING failures, blocked_until, expires_at
"""


def _take(key: Key, now: dt.datetime) -> dt.timedelta:
    with connection.cursor() as cursor:
        cursor.execute(_LOCKED, {"key": key.digest, "now": now})
        failures, blocked_until, expires_at = cursor.fetchone()
    # while guesses are free, a guess at the same moment, by another process's clock, is no reason to wait
    if failures >= key.pace.free and blocked_until > now:
        raise Slowed(blocked_until - now)
    failures = 1 if expires_at <= now else failures + 1
    wait = key.pace.wait_after(failures)
    Throttle.objects.filter(key=key.digest).update(
        failures=failures, blocked_until=now + wait, expires_at=now + wait + dt.timedelta(hours=key.pace.kept_hours)
    )
    return wait
