"""Notes in Redis the counts that the background has to repeat after a change: at rest nobody asks the database.

Only for counts that may be late or missing: without Redis nothing is noted, and the next change notes it again.
"""

import time

import redis
import structlog

from core.stores import Breaker, hurried

log = structlog.get_logger()

_DUE = "recounts"

breaker = Breaker("recount_not_noted")


def ask_for(what: str, *, in_seconds: float = 0.0) -> None:
    """Have `what` counted again after so many seconds, or earlier if somebody asks for that."""
    if breaker.is_open:
        return
    try:
        hurried().zadd(_DUE, {what: time.time() + in_seconds}, lt=True)
    except redis.RedisError as error:
        breaker.note(error, what=what)


def is_due(what: str) -> bool:
    """Whether `what` is to be counted now; the note is taken away, so count before you call it again."""
    try:
        moment = hurried().zscore(_DUE, what)
        return moment is not None and float(str(moment)) <= time.time() and bool(hurried().zrem(_DUE, what))
    except redis.RedisError as error:
        log.warning("recount_not_read", what=what, fault=type(error).__name__)
        return False
