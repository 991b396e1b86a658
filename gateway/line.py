"""The line of the calls that people asked for, in turns, and the bell that wakes the dispatchers; both are in Redis.

Each person has ten turns at once, and then one every two seconds. Further calls, such as those of a batch, wait while
any other person has a turn. So 300 orders of one person never hold up the single click of another.

PostgreSQL is the truth: all work in the line also has a due time there. A lost line, or a failed join, costs only time.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self, cast

import redis
from django.conf import settings
from django.db import transaction
from redis.commands.core import Script

from core.stores import Breaker, hurried, new_client
from core.tracing import traceparent
from upstream.client import get_client

# A person has this many turns at once, as many as the rate budget keeps for people out of 120 calls, and then one every
# few seconds. With fewer turns, a person who clicks every few seconds would run out, because clicks come in bunches.
TURNS_AT_ONCE = 10
SECONDS_BETWEEN_TURNS = 2.0
# A dispatcher sleeps at most this long (seconds), so that a lost wake-up only delays.
LONGEST_SLEEP_SECONDS = 30.0
# A frozen Redis makes a purchase and its page wait only once together.
breaker = Breaker("line_unreachable")
_LINE, _TURNS, _TRACES = "dispatch:line", "dispatch:turns", "dispatch:traces"
_BELL, _SLEEPING_UNTIL = "dispatch:bell", "dispatch:sleeping-until"
_SCRIPTS = {path.stem: path.read_text() for path in (Path(__file__).parent / "lua").glob("*.lua")}


@dataclass(frozen=True)
class Work:
    """One request to make: the task that makes it, by its name, and the row that it is about."""

    task: str
    pk: int

    def __str__(self) -> str:
        return f"{self.task}:{self.pk}"

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Read the text that `str` wrote."""
        task, _, pk = text.decode().rpartition(":")
        return cls(task, int(pk))


@cache
def _script(name: str) -> Script:
    """One of `lua/*.lua`, ready to be run."""
    return hurried().register_script(_SCRIPTS[name])


def _run(name: str, keys: list[str], arguments: Sequence[Any] = ()) -> Any:
    return _script(name)(keys=keys, args=arguments, client=hurried())


@cache
def _sleeper() -> redis.Redis:
    """A connection that may be silent while a dispatcher sleeps."""
    return new_client(patience=LONGEST_SLEEP_SECONDS + settings.REDIS_SOCKET_TIMEOUT)


def join(work: Work, *, person_id: int | None) -> bool:
    """Put work into the line for this person, once. False without Redis: then the work is done when it falls due."""
    arguments = [str(work), str(person_id or 0), _us(SECONDS_BETWEEN_TURNS), TURNS_AT_ONCE, traceparent() or ""]
    return _try("join", [_LINE, _TURNS, _BELL, _TRACES], arguments)


def ring_when_committed(moment: dt.datetime | None) -> None:
    """After the commit, make a dispatcher wake at this moment, when the written rows fall due."""
    if moment is not None:
        at = moment.timestamp()
        transaction.on_commit(lambda: _try("ring", [_SLEEPING_UNTIL, _BELL], [at]) and None)


def longest_wait(work: Work) -> float | None:
    """The longest time (seconds) that work in the line has to wait; None if it is not there, or without Redis.

    Work without a turn, such as of a batch, gets every second place of the limit, so it counts double.
    """
    if breaker.is_open:
        return None
    try:
        with hurried().pipeline() as several:
            several.zrank(_LINE, str(work))
            several.zscore(_LINE, str(work))
            several.time()
            ahead, turn, now = several.execute()
    except redis.RedisError as error:
        breaker.note(error, operation="longest_wait")
        return None
    if ahead is None or turn is None:
        return None
    rate = get_client().config.account_rate
    has_turn = turn <= now[0] * 1_000_000 + now[1]
    return float(ahead * rate.window / rate.calls * (1 if has_turn else 2))


def first_turn_in() -> float | None:
    """Seconds until the turn of the first work in the line, 0 when it has come; None when the line is empty.

    Raises `redis.RedisError`.
    """
    microseconds = _run("first", [_LINE])
    return None if microseconds is None else int(microseconds) / 1_000_000


def take_first() -> tuple[Work, str] | None:
    """Take the first work out of the line, with the trace of its joining ("" for none). Raises `redis.RedisError`."""
    taken = cast("list[bytes]", _run("take", [_LINE, _TRACES]))
    return (Work.read(taken[0]), taken[1].decode()) if taken else None


def leave(*works: Work) -> None:
    """Remove work that is handed out in another way. Raises `redis.RedisError`."""
    if works:
        hurried().zrem(_LINE, *map(str, works))
        hurried().hdel(_TRACES, *map(str, works))


def backlog(queue: str) -> int:
    """The number of messages in this queue that no worker has taken. Raises `redis.RedisError`."""
    return cast("int", hurried().llen(queue))


def stay_awake() -> None:
    """Make all work that falls due ring from now on, until `fall_asleep`. Raises `redis.RedisError`."""
    hurried().delete(_SLEEPING_UNTIL)


def fall_asleep(until: dt.datetime) -> None:
    """Stop work that falls due later than this from ringing. Raises `redis.RedisError`."""
    hurried().set(_SLEEPING_UNTIL, until.timestamp(), ex=3600)


def wait_for_bell(seconds: float) -> dt.datetime | None:
    """Sleep for this time, or until the bell rings; return the moment at which work falls due.

    A ring wakes one dispatcher. None when the time is over, or work joined the line. Raises `redis.RedisError`.
    """
    seconds = min(max(0.01, seconds), LONGEST_SLEEP_SECONDS)
    rung = cast("tuple[bytes, bytes] | None", _sleeper().blpop([_BELL], timeout=seconds))
    return None if rung is None or rung[1] == b"line" else dt.datetime.fromtimestamp(float(rung[1]), dt.UTC)


def ring() -> None:
    """Wake one dispatcher. Raises `redis.RedisError`."""
    hurried().rpush(_BELL, "line")


def _try(script: str, keys: list[str], arguments: list[Any]) -> bool:
    if breaker.is_open:
        return False
    try:
        _run(script, keys, arguments)
    except redis.RedisError as error:
        breaker.note(error, operation=script)
        return False
    return True


def _us(seconds: float) -> int:
    return round(seconds * 1_000_000)
