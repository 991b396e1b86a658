"""When the upstream is asked again, and what is handed out now: one policy and one sweep for every room."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings

from core import clock
from gateway.services import sending_is_stopped
from upstream.client import get_client
from upstream.error_codes import ErrorCode
from upstream.errors import Misconfigured, Rejected, Unavailable, UpstreamError

# However much the rate budget lets through, one sweep hands out no more than this.
_AT_MOST = 20

# What a person has just asked for is the interactive worker's for this long (seconds); then it is the sweep's too.
HEAD_START_SECONDS = 15.0

# After "certainly not sent", and while nothing may be sent.
_RETRY_SECONDS, _STOPPED_SECONDS = 10.0, 30.0


def in_seconds(seconds: float) -> dt.datetime:
    """`seconds` from now, but never later than the longest pause, whatever a Retry-After says."""
    return clock.now() + dt.timedelta(seconds=min(seconds, settings.ORDER_CHECK_MAX_SECONDS))


def backoff(times: int, *, first: float | None = None, factor: float = 2.0) -> float:
    """Seconds: the first pause (default: the setting), times `factor` for each time before, up to the longest."""
    start = settings.ORDER_CHECK_FIRST_SECONDS if first is None else first
    return float(min(start * factor ** min(times, 60), settings.ORDER_CHECK_MAX_SECONDS))


def next_poll_at(times: int, *, factor: float = 2.0) -> dt.datetime:
    """When to ask again after `times` requests, ± 20 %: what was sent together is not asked about together."""
    spread = random.uniform(0.8, 1.2)  # noqa: S311 - it guards nothing
    return clock.now() + dt.timedelta(seconds=backoff(times, factor=factor) * spread)


def wait_after(error: UpstreamError) -> float | None:
    """Seconds until the same request is worth another try; None: nothing is known, so the back-off decides."""
    match error:
        case Unavailable(reason="stopped") | Misconfigured():
            return _STOPPED_SECONDS
        case Unavailable():
            return error.retry_after or _RETRY_SECONDS
        case Rejected(error_code=ErrorCode.RATE_LIMITED):
            return error.retry_after or _RETRY_SECONDS
    return None


@dataclass(frozen=True, kw_only=True)
class Due:
    """Rows of one room that fall due.

    `hand_out(limit)` leases up to so many of them, oldest due first, publishes their tasks and returns how many; a
    lost task is found again when its lease is over. `asks_upstream`: each costs one request of the rate budget.
    """

    exists: Callable[[], bool]
    hand_out: Callable[[int], int]
    asks_upstream: bool = True


def sweep(sources: Sequence[Due]) -> int:
    """Hand out what is due in every room, in fair shares of what the rate budget lets through; return how many."""
    due = [source for source in sources if source.exists()]
    asking = [source for source in due if source.asks_upstream]
    handed_out = sum(source.hand_out(_AT_MOST) for source in due if not source.asks_upstream)
    return handed_out + _share(asking, _allowance() if asking else 0)


def _allowance() -> int:
    if sending_is_stopped():
        return 0
    try:
        return min(get_client().budget.background_allowance(within_seconds=settings.SWEEP_EVERY_SECONDS), _AT_MOST)
    except UpstreamError:
        return 0


def _share(sources: list[Due], allowance: int) -> int:
    """Each gets an equal part; what one leaves goes to the others. The one that begins changes by chance."""
    left = allowance
    waiting = random.sample(sources, len(sources))
    while left > 0 and waiting:
        part = -(-left // len(waiting))
        source = waiting.pop(0)
        left -= source.hand_out(min(part, left))
    return allowance - left
