"""A clock that is set back for a moment raises no false alarm and leaves books that add up."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from balance import services as balance
from balance.models import Difference, Reading, Spending
from balance.services import ledger
from purchases.models import OrderEvent
from purchases.services.sending import claim
from tests.balance.test_ledger import PRICE, open_with, place, report
from upstream.client import Answer
from upstream.messages import Balance

pytestmark = pytest.mark.django_db(transaction=True)

START = dt.datetime(2026, 11, 20, 3, 0, tzinfo=dt.UTC)
OPENED = 1_000_000
At = Callable[[float], None]


@pytest.fixture
def at() -> At:
    """Set the clock to so many seconds after the books were opened with a million rupiah."""
    with time_machine.travel(START, tick=False) as clock:
        open_with(OPENED)
        yield lambda seconds: clock.move_to(START + dt.timedelta(seconds=seconds))


def told(rupiah: int, *, clock_was_set: bool = False) -> Reading:
    """A balance request that took 0.2 s and is answered now."""
    now = timezone.now()
    answer = Answer(
        data=Balance(balance=rupiah),
        raw={},
        sent_at=now - dt.timedelta(seconds=0.2),
        received_at=now,
        clock_was_set=clock_was_set,
    )
    return balance.record_reading(balance=rupiah, source=Reading.Source.BALANCE, answer=answer)


def test_an_order_that_was_sent_before_the_clock_went_back_is_no_false_alarm(at: At):
    order = place()
    at(10)
    claim(order.pk)  # and charged at once; then the clock goes back by two seconds
    at(8.8)

    reading = told(OPENED - PRICE)
    balance.reconcile()
    at(9)
    report(order, "success", source=OrderEvent.Source.SUBMIT)
    at(30)
    told(OPENED - PRICE)
    run = balance.reconcile()

    assert reading.source == Reading.Source.PAST
    assert (run.state, run.difference) == ("balanced", 0)
    assert not Difference.objects.exists()


def test_a_refund_that_we_learn_of_after_the_clock_went_back_is_not_taken_for_older_than_a_reading(at: At):
    slow, order = place(), place()
    at(5)
    claim(slow.pk)
    claim(order.pk)
    report(slow, "pending", source=OrderEvent.Source.SUBMIT)
    report(order, "pending", source=OrderEvent.Source.SUBMIT)
    at(10)
    told(OPENED - 2 * PRICE)  # waits for both; then the clock goes back by two seconds
    at(8.8)

    report(order, "failed")
    report(slow, "success")
    at(30)
    told(OPENED - PRICE)
    run = balance.reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    assert not Difference.objects.exists()


def test_an_order_that_is_sent_after_the_clock_went_back_is_not_dated_before_a_reading(at: At):
    slow, order = place(), place()
    at(5)
    claim(slow.pk)
    report(slow, "pending", source=OrderEvent.Source.SUBMIT)
    at(10)
    told(OPENED - PRICE)  # waits for the slow order; then the clock goes back by two seconds
    at(8.8)

    claim(order.pk)
    report(order, "success", source=OrderEvent.Source.SUBMIT)
    report(slow, "success")
    balance.reconcile()
    at(30)
    told(OPENED - 2 * PRICE)
    run = balance.reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    assert not Difference.objects.exists()


def test_readings_count_again_once_the_clock_has_passed_what_was_noted_before(at: At):
    order = place()
    at(10)
    claim(order.pk)
    at(8.8)
    assert told(OPENED).source == Reading.Source.PAST

    at(10.5)

    assert told(OPENED).source == Reading.Source.BALANCE


def test_a_clock_that_was_far_ahead_is_not_waited_for(at: At):
    order = place()
    at(86_400)
    claim(order.pk)
    at(10)

    assert told(OPENED).source == Reading.Source.BALANCE
    claim(place().pk)
    assert Spending.objects.earliest("sent_at").sent_at == timezone.now()


def test_an_answer_during_which_the_clock_was_set_is_never_compared(at: At):
    at(10)

    assert told(1, clock_was_set=True).source == Reading.Source.PAST
    assert balance.reconcile().state == "balanced"


def test_a_clock_that_is_set_back_at_midnight_leaves_closings_that_add_up(at: At):
    midnight = dt.datetime(2026, 11, 21, tzinfo=timezone.get_default_timezone())
    for seconds, rupiah in ((0.5, 1_000), (-0.5, 500)):
        at((midnight - START).total_seconds() + seconds)
        with transaction.atomic():
            ledger.post_top_up(amount=rupiah, actor=None, reason="")

    before, after = balance.day_closings(dt.date(2026, 11, 20), dt.date(2026, 11, 21))

    assert before.adds_up
    assert after.adds_up
    assert (before.closing, after.top_ups, after.closing) == (OPENED, 1_500, OPENED + 1_500)
