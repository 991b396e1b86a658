"""Our clients of Redis, and a breaker, so that people do not wait for a Redis that does not answer."""

import time
from functools import cache

import redis
import structlog
from django.conf import settings

log = structlog.get_logger()

# A person waits for the page meanwhile: a Redis that does not answer within this (seconds) costs no more.
PATIENCE_SECONDS = 0.5
# After a failure nobody in this process tries for this long (seconds): a frozen Redis costs one person one timeout.
PAUSE_SECONDS = 5.0


def new_client(*, patience: float | None = None, connect_patience: float | None = None) -> redis.Redis:
    """A client of REDIS_URL. `patience`, `connect_patience`: seconds to wait for it; the settings' where not given."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=patience or settings.REDIS_SOCKET_TIMEOUT,
        socket_connect_timeout=connect_patience or settings.REDIS_CONNECT_TIMEOUT,
    )


@cache
def patient() -> redis.Redis:
    """The client for work that nobody waits for."""
    return new_client()


@cache
def hurried() -> redis.Redis:
    """The client while a person waits."""
    return new_client(patience=PATIENCE_SECONDS, connect_patience=PATIENCE_SECONDS)


class Breaker:
    """One way to Redis that this process leaves alone for a while after a failure."""

    def __init__(self, event: str) -> None:
        self._event = event
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether nobody in this process tries now."""
        return time.monotonic() < self._open_until

    def note(self, error: Exception, **facts: object) -> None:
        """Log the failure under this breaker's event, and leave Redis alone for `PAUSE_SECONDS`."""
        self._open_until = time.monotonic() + PAUSE_SECONDS
        log.warning(self._event, fault=type(error).__name__, **facts)

    def close(self) -> None:
        """Try again at once."""
        self._open_until = 0.0
