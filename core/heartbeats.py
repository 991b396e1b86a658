"""The heartbeats of our processes on all machines: each writes to Redis every two seconds.

Redis's own clock counts, so that machines with different clocks agree.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis
import structlog
from django.conf import settings

from core.stores import patient

log = structlog.get_logger()

# After the first time without a heartbeat (seconds) a process is missing; after the second it is forgotten.
SILENCE_SECONDS, FORGOTTEN_SECONDS = 15, 3600
# After a start, or a planned stop of beat, each process has this long (seconds) to give its first heartbeat.
START_SECONDS = 40
# The roles that must be there; `web` is there when a page is read.
ROLES = ("worker", "background", "beat")
_EVERY_SECONDS = 2.0

_BEATS, _STARTING = "heartbeats", "starting"
# Keeps "the time, the free bytes" of one process.
_RECORD = "redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1] .. ' ' .. ARGV[2])"

_recorded: dict[str, float] = {}


def process_name(role: str) -> str:
    """The name of this process: the launcher numbers those of one role, "worker", "worker-2"."""
    return os.environ.get("PROCESS_NAME", role)


@dataclass(frozen=True)
class Heartbeat:
    """The last heartbeat of a process. `name`: "worker-2"; `place`: the installation; `free`: bytes left on disk."""

    name: str
    place: str
    age: int
    free: int

    @property
    def role(self) -> str:
        """ "worker" for "worker-2"."""
        return self.name.partition("-")[0]

    @property
    def is_alive(self) -> bool:
        """Whether the heartbeat is younger than `SILENCE_SECONDS`."""
        return self.age < SILENCE_SECONDS


@dataclass(frozen=True)
class Pulse:
    """Redis' facts about all processes. `redis`: whether it answers; when not, nothing is known."""

    redis: bool
    is_starting: bool
    beats: list[Heartbeat]

    def alive(self) -> dict[str, int]:
        """Role → how many of its processes live."""
        return dict(Counter(beat.role for beat in self.beats if beat.is_alive))

    def silent(self) -> list[str]:
        """The roles without a process that has a heartbeat; only "redis" when Redis, which keeps them, is away."""
        if not self.redis:
            return ["redis"]
        alive = self.alive()
        return [] if self.is_starting else [role for role in ROLES if role not in alive]


def record(name: str) -> None:
    """Say that process `name` ("web", "worker-2") of this installation runs; every two seconds at most."""
    now = time.monotonic()
    if now - _recorded.get(name, -_EVERY_SECONDS) < _EVERY_SECONDS:
        return
    _recorded[name] = now
    with _logged("heartbeat_not_recorded", process=name):
        patient().eval(_RECORD, 1, _BEATS, _field(name), str(_free_bytes()))


def end(name: str) -> None:
    """Note that the process ends in order, so that nobody expects its heartbeat any more."""
    with _logged("end_not_recorded", process=name):
        patient().hdel(_BEATS, _field(name))


def record_start() -> None:
    """Remember that the processes are being started: for `START_SECONDS` no process counts as silent."""
    with _logged("start_not_noted"):
        patient().set(_STARTING, "1", ex=START_SECONDS)


def read() -> Pulse:
    """The present facts, in one round trip, because a frozen Redis is slow."""
    try:
        with patient().pipeline() as question:
            question.time()
            question.hgetall(_BEATS)
            question.exists(_STARTING)
            (now, _), written, is_starting = question.execute()
    except redis.RedisError:
        return Pulse(redis=False, is_starting=False, beats=[])
    beats = [_heartbeat(field, value, now) for field, value in written.items()]
    if forgotten := [beat for beat in beats if beat.age > FORGOTTEN_SECONDS]:
        _forget(forgotten)
    return Pulse(redis=True, is_starting=bool(is_starting), beats=[b for b in beats if b not in forgotten])


@contextmanager
def _logged(event: str, **facts: str) -> Iterator[None]:
    """Log this event, and go on, when Redis is away."""
    try:
        yield
    except redis.RedisError as error:
        log.warning(event, **facts, fault=type(error).__name__)


def _field(name: str) -> str:
    return f"{name}@{settings.INSTALLATION}"


def _heartbeat(field: bytes, value: bytes, now: int) -> Heartbeat:
    name, _, place = field.decode().partition("@")
    at, _, free = value.decode().partition(" ")
    return Heartbeat(name=name, place=place, age=max(0, now - int(at)), free=int(free))


def _forget(beats: list[Heartbeat]) -> None:
    fields: list[Any] = [f"{beat.name}@{beat.place}" for beat in beats]
    with _logged("heartbeats_not_forgotten"):
        patient().hdel(_BEATS, *fields)


def _free_bytes() -> int:
    """The bytes left on the disk of this installation's data; on the root disk when there is no data folder."""
    try:
        return shutil.disk_usage(settings.DATA_DIR).free
    except OSError:
        return shutil.disk_usage("/").free
