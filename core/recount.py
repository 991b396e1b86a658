"""What the background counts again after a change: noted in Redis, so that at rest nobody asks the database.

Only for what may be a little late or lost: without Redis nothing is noted, and the next change notes it again.
"""

from __future__ import annotations

import time
from functools import cache

import redis
import structlog
from django.conf import settings

log = structlog.get_logger()

_DUE = "recounts"
# Whoever changes something waits for Redis no longer than this, and then nobody of this process tries (seconds).
_PATIENCE_SECONDS, _PAUSE_SECONDS = 0.5, 5.0

_paused_until = [0.0]


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_PATIENCE_SECONDS, socket_connect_timeout=_PATIENCE_SECONDS
    )


def ask_for(what: str, *, in_seconds: float = 0.0) -> None:
    """Have `what` counted again at that moment, or earlier if somebody asks for it earlier."""
    if time.monotonic() < _paused_until[0]:
        return
    try:
        _redis().zadd(_DUE, {what: time.time() + in_seconds}, lt=True)
    except redis.RedisError as error:
        _paused_until[0] = time.monotonic() + _PAUSE_SECONDS
        log.warning("recount_not_noted", what=what, fault=type(error).__name__)


def is_due(what: str) -> bool:
    """Whether `what` is to be counted now; the note is taken away, so count before you ask again."""
    try:
        moment = _redis().zscore(_DUE, what)
        return moment is not None and float(str(moment)) <= time.time() and bool(_redis().zrem(_DUE, what))
    except redis.RedisError as error:
        log.warning("recount_not_read", what=what, fault=type(error).__name__)
        return False
