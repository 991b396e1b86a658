"""Knows whether the work that dispatchers hand out makes progress; kept in Redis, by task.

Running processes may get nothing done: a machine may be too busy, or every piece of work may fail.
PostgreSQL alone does not show that, because leases move the due times of work that was handed out. People's clicks do
not count: the workers of their queue may go on while the background stands still.
"""

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
# Lost work is handed out again within a minute or two; after this (seconds) the note is dropped.
_KEPT_SECONDS = 600


@dataclass(frozen=True)
class Standing:
    """Whether the workers make progress with some tasks.

    `handed_out_at`: the time since which they hold work without progress; None if they hold none. `gone_on_at`: the
    time of the last progress; None when it is unknown.
    """

    handed_out_at: dt.datetime | None
    gone_on_at: dt.datetime | None


def note_handed_out(tasks: Collection[str]) -> None:
    """Note that work of these tasks was handed out. Raises `redis.RedisError`."""
    if not tasks:
        return
    now = clock.now().timestamp()
    with patient().pipeline() as several:
        for task in tasks:
            several.set(_handed_out(task), now, nx=True)
            several.expire(_handed_out(task), _KEPT_SECONDS)
        several.execute()


def note_gone_on(task: str) -> None:
    """Note that work of this task was done, or that nothing was left to do. A fault of a store is only logged."""
    try:
        with patient().pipeline() as several:
            several.hset(_GONE_ON, task, str(clock.now().timestamp()))
            several.delete(_handed_out(task))
            several.execute()
    except (redis.RedisError, DatabaseError) as error:
        log.warning("going_on_not_noted", task=task, fault=type(error).__name__)


def standing_of(tasks: Collection[str]) -> Standing:
    """The standing of these tasks, taken together. Raises `redis.RedisError`."""
    with patient().pipeline() as several:
        several.mget([_handed_out(task) for task in tasks])
        several.hmget(_GONE_ON, list(tasks))
        handed_out, gone_on = several.execute()
    return Standing(min(_moments(handed_out), default=None), max(_moments(gone_on), default=None))


def _handed_out(task: str) -> str:
    return f"dispatch:handed-out:{task}"


def _moments(written: list[bytes | None]) -> list[dt.datetime]:
    return [dt.datetime.fromtimestamp(float(text), dt.UTC) for text in written if text]
