"""When an order is looked at next."""

from __future__ import annotations

import datetime as dt
import random

from django.conf import settings
from django.utils import timezone

# A freshly queued order is the interactive worker's for this long (seconds); then it is the sweep's too.
HEAD_START_SECONDS = 15.0


def first_check_at() -> dt.datetime:
    """When to ask for the first time after sending."""
    return timezone.now() + dt.timedelta(seconds=settings.ORDER_CHECK_FIRST_SECONDS)


def next_check_at(checks: int) -> dt.datetime:
    """When to ask again after `checks` status requests: doubling from the first delay up to the longest, ± 20 %."""
    seconds = doubling(settings.ORDER_CHECK_FIRST_SECONDS, checks)
    # The jitter spreads orders that were sent together; it guards nothing.
    return timezone.now() + dt.timedelta(seconds=seconds * random.uniform(0.8, 1.2))  # noqa: S311


def in_seconds(seconds: float) -> dt.datetime:
    """`seconds` from now, but never later than the longest delay between two looks, whatever a Retry-After says."""
    return timezone.now() + dt.timedelta(seconds=min(seconds, settings.ORDER_CHECK_MAX_SECONDS))


def doubling(first: float, times: int) -> float:
    """Seconds: `first`, doubled so many times, up to the longest delay between two looks."""
    return float(min(first * 2 ** min(times, 30), settings.ORDER_CHECK_MAX_SECONDS))


def may_still_be_on_its_way(sent_at: dt.datetime) -> bool:
    """Whether a request claimed at `sent_at` may still be under way, so that "not found" means nothing yet."""
    longest_call = settings.UPSTREAM_CONNECT_TIMEOUT + settings.UPSTREAM_READ_TIMEOUT
    return timezone.now() < sent_at + dt.timedelta(seconds=longest_call)
