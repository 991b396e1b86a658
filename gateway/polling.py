"""The time of the next poll of the upstream: one policy for every room."""

import datetime as dt
import random

from django.conf import settings

from core import clock
from upstream.error_codes import ErrorCode
from upstream.errors import Misconfigured, Rejected, Unavailable, UpstreamError

# For these seconds a person's new request is only in the people's line; then it also falls due.
HEAD_START_SECONDS = 15.0

# The pauses after "certainly not sent", and while nothing may be sent.
_RETRY_SECONDS, _STOPPED_SECONDS = 10.0, 30.0


def in_seconds(seconds: float) -> dt.datetime:
    """The moment `seconds` from now, at most the longest pause, even for a longer Retry-After."""
    return clock.now() + dt.timedelta(seconds=min(seconds, settings.ORDER_CHECK_MAX_SECONDS))


def backoff(times: int, *, first: float | None = None, factor: float = 2.0) -> float:
    """A pause in seconds: `first` (default: the setting), multiplied by `factor` `times` times, up to the longest."""
    start = settings.ORDER_CHECK_FIRST_SECONDS if first is None else first
    return float(min(start * factor ** min(times, 60), settings.ORDER_CHECK_MAX_SECONDS))


def next_poll_at(times: int) -> dt.datetime:
    """The time of the next poll after `times` requests, ± 20 %, so that orders sent together are polled apart."""
    spread = random.uniform(0.8, 1.2)  # noqa: S311 - it guards nothing
    return clock.now() + dt.timedelta(seconds=backoff(times) * spread)


def wait_after(error: UpstreamError) -> float | None:
    """Seconds until the same request may be tried again; None when the error does not say: the back-off decides."""
    match error:
        case Unavailable(reason="stopped") | Misconfigured():
            return _STOPPED_SECONDS
        case Unavailable():
            return error.retry_after or _RETRY_SECONDS
        case Rejected(error_code=ErrorCode.RATE_LIMITED):
            return error.retry_after or _RETRY_SECONDS
    return None
