"""One retry policy and one sweep for every room: fair shares, growing pauses, and no fault that is tried at once."""

from __future__ import annotations

from typing import Any

import pytest

from core import clock
from gateway import polling
from gateway.polling import Due, backoff, in_seconds, next_poll_at, sweep, wait_after
from upstream.error_codes import ErrorCode
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError


@pytest.fixture
def allowance(monkeypatch: Any) -> Any:
    def allow(requests: int) -> None:
        monkeypatch.setattr(polling, "_allowance", lambda: requests)

    return allow


class Rows:
    """So many rows of a room that are due."""

    def __init__(self, waiting: int) -> None:
        self.waiting, self.handed_out = waiting, 0

    def as_due(self, **facts: Any) -> Due:
        return Due(exists=lambda: self.waiting > 0, hand_out=self._hand_out, **facts)

    def _hand_out(self, limit: int) -> int:
        taken = min(limit, self.waiting)
        self.waiting -= taken
        self.handed_out += taken
        return taken


def test_two_busy_rooms_share_the_allowance_evenly(allowance: Any):
    allowance(10)
    orders, bills = Rows(100), Rows(100)

    assert sweep([orders.as_due(), bills.as_due()]) == 10

    assert (orders.handed_out, bills.handed_out) == (5, 5)


def test_a_quiet_room_costs_a_busy_one_nothing(allowance: Any):
    allowance(10)
    orders, bills = Rows(100), Rows(0)

    sweep([orders.as_due(), bills.as_due()])

    assert (orders.handed_out, bills.handed_out) == (10, 0)


def test_an_odd_allowance_is_handed_out_whole(allowance: Any):
    allowance(1)
    orders, bills = Rows(100), Rows(100)

    assert sweep([orders.as_due(), bills.as_due()]) == 1


def test_what_asks_nobody_needs_no_allowance(allowance: Any):
    allowance(0)
    orders, callbacks = Rows(5), Rows(5)

    sweep([orders.as_due(), callbacks.as_due(asks_upstream=False)])

    assert (orders.handed_out, callbacks.handed_out) == (0, 5)


@pytest.mark.django_db
def test_pauses_double_up_to_the_longest(settings: Any):
    settings.ORDER_CHECK_FIRST_SECONDS, settings.ORDER_CHECK_MAX_SECONDS = 3.0, 600.0

    assert [backoff(times) for times in (0, 1, 2, 7, 8, 1_000)] == [3, 6, 12, 384, 600, 600]
    for times, seconds in ((0, 3), (3, 24), (50, 600)):
        pause = (next_poll_at(times) - clock.now()).total_seconds()
        assert 0.79 * seconds < pause < 1.21 * seconds


@pytest.mark.django_db
def test_no_retry_after_is_longer_than_the_longest_pause(settings: Any):
    settings.ORDER_CHECK_MAX_SECONDS = 600.0

    assert 599 < (in_seconds(1_000_000) - clock.now()).total_seconds() <= 600


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (Unavailable("budget", 1.5), 1.5),
        (Unavailable("connect"), 10),
        (Unavailable("stopped"), 30),
        (Misconfigured("no key"), 30),
        (Rejected(ErrorCode.RATE_LIMITED, retry_after=7), 7),
        (Rejected(ErrorCode.TRANSACTION_NOT_FOUND), None),
        (OutcomeUnknown("timeout"), None),
    ],
)
def test_the_kind_of_error_says_when_to_try_again(error: UpstreamError, seconds: float | None):
    assert wait_after(error) == seconds
