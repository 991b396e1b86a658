"""Whether what the dispatchers hand out goes on; kept in Redis, by task.

Processes may live and nothing go on all the same: a machine that is too busy, a fault that every piece of work meets.
Leases move the due times of work that was handed out, so that PostgreSQL alone does not show it. People's own clicks do
not count: the workers of their queue may go on while the background stands still.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

import redis
import structlog
from django.db import DatabaseError

from core import clock
from core.stores import patient

log = structlog.get_logger()

_GONE_ON = "dispatch:gone-on"
# Work that was handed out is handed out again within a minute or two: after this (seconds) it is over or forgotten.
_KEPT_SECONDS = 600


@dataclass(frozen=True)
class Standing:
    """How the workers get on with some kinds of tasks.

    `handed_out_at`: since when they hold work without any progress; None when they hold none. Then the time of the
    last progress; None when it is unknown.
    """

    handed_out_at: dt.datetime | None
    gone_on_at: dt.datetime | None


def note_handed_out(tasks: Collection[str]) -> None:
    """Work of these tasks was taken to be done. Raises `redis.RedisError`."""
    if not tasks:
        return
    now = clock.now().timestamp()
    with patient().pipeline() as several:
        for task in tasks:
            several.set(_handed_out(task), now, nx=True)
            several.expire(_handed_out(task), _KEPT_SECONDS)
        several.execute()


def note_gone_on(task: str) -> None:
    """A piece of this task's work was done, or there was nothing left to do about it. Costs nobody a failure."""
    try:
        with patient().pipeline() as several:
            several.hset(_GONE_ON, task, str(clock.now().timestamp()))
            several.delete(_handed_out(task))
            several.execute()
    except (redis.RedisError, DatabaseError) as error:
        log.warning("going_on_not_noted", task=task, fault=type(error).__name__)


def standing_of(tasks: Collection[str]) -> Standing:
    """How the work of these tasks stands, taken together. Raises `redis.RedisError`."""
    with patient().pipeline() as several:
        several.mget([_handed_out(task) for task in tasks])
        several.hmget(_GONE_ON, list(tasks))
        handed_out, gone_on = several.execute()
    return Standing(min(_moments(handed_out), default=None), max(_moments(gone_on), default=None))


def _handed_out(task: str) -> str:
    return f"dispatch:handed-out:{task}"


def _moments(written: list[bytes | None]) -> list[dt.datetime]:
    return [dt.datetime.fromtimestamp(float(text), dt.UTC) for text in written if text]
