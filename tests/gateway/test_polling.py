"""One retry policy for every room: pauses grow, and no fault is tried again at once."""

from typing import Any

import pytest

from core import clock
from gateway.polling import backoff, in_seconds, next_poll_at, wait_after
from upstream.error_codes import ErrorCode
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError


@pytest.mark.django_db
def test_pauses_double_up_to_the_longest(settings: Any):
    settings.ORDER_CHECK_FIRST_SECONDS, settings.ORDER_CHECK_MAX_SECONDS = 3.0, 600.0

    assert [backoff(times) for times in (0, 1, 2, 7, 8, 1_000)] == [3, 6, 12, 384, 600, 600]
    for times, seconds in ((0, 3), (3, 24), (50, 600)):
        pause = (next_poll_at(times) - clock.now()).total_seconds()
        assert 0.79 * seconds < pause < 1.21 * seconds
    assert 599 < (in_seconds(1_000_000) - clock.now()).total_seconds() <= 600


def test_the_kind_of_error_says_when_to_try_again():
    waits: dict[UpstreamError, float | None] = {
        Unavailable("budget", 1.5): 1.5,
        Unavailable("connect"): 10,
        Unavailable("stopped"): 30,
        Misconfigured("no key"): 30,
        Rejected(ErrorCode.RATE_LIMITED, retry_after=7): 7,
        Rejected(ErrorCode.TRANSACTION_NOT_FOUND): None,
        OutcomeUnknown("timeout"): None,
    }

    assert {error: wait_after(error) for error in waits} == waits
