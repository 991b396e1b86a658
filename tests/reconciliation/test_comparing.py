"""The results of a comparison: "balanced" only if the upstream's balance was compared with the books themselves."""

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from gateway.models import Exchange
from ledger import services as ledger
from purchases.models import Incident
from purchases.services.polling import _count_not_found
from reconciliation import services as reconciliation
from reconciliation.models import Difference, Reconciliation
from testing.database import past_triggers, undone
from testing.orders import CALLBACK, SUBMIT, at_once, never_arrived, report, sent
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import asked, tell
from upstream.endpoints import Endpoint

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 1_000_000, 10_500


@pytest.fixture(autouse=True)
def no_low_balance(settings: Any) -> None:
    settings.POLICIES = {"alert_low_balance": 0, "alert_low_balance_hours": 0}


def amounts() -> list[int]:
    return sorted(Difference.objects.values_list("amount", flat=True))


def ago(**time: float) -> dt.datetime:
    return timezone.now() - dt.timedelta(**time)


def test_a_reading_inside_an_order_is_not_called_balanced():
    open_books(OPENED)
    order = sent()
    during = read_balance(OPENED - PRICE)
    report(order, "success")

    run = reconciliation.reconcile()

    assert (run.state, run.difference, run.blocking) == ("provisional", 0, [])
    assert Reconciliation.objects.get().judged_no == during.answered_no
    assert tell(OPENED - PRICE).state == "balanced"


def test_while_an_order_is_open_its_reading_waits_and_names_it():
    open_books(OPENED)
    order = sent()

    run = tell(OPENED - PRICE - 7)

    assert (run.state, run.difference, run.blocking) == ("provisional", -7, [order.ref_id])
    assert amounts() == []
    report(order, "success")
    assert (tell(OPENED - PRICE - 7).state, amounts()) == ("unexplained", [-7])


def test_with_too_many_open_orders_nothing_is_said():
    open_books(OPENED)
    for _ in range(11):
        sent()

    run = tell(OPENED - 777)

    assert (run.state, run.difference, len(run.blocking)) == ("waiting", None, 11)


def test_seen_pending_after_a_reading_the_order_blocks_no_more():
    open_books(OPENED)
    order = sent()
    report(order, "pending", source=SUBMIT)
    before = read_balance(OPENED - PRICE)
    assert reconciliation.reconcile().blocking == [order.ref_id]

    poll = asked(order, "pending")
    report(order, "pending", asked_no=poll.pk)

    assert reconciliation.reconcile().state == "balanced"
    assert Reconciliation.objects.get().quiet == before


def test_the_answer_to_its_own_sending_is_a_reading():
    open_books(OPENED)
    order = sent()
    now = timezone.now()
    Exchange.objects.create(
        pk=order.sent_no,
        answered_no=read_balance(1).pk,
        endpoint=Endpoint.TRANSACTION_CREATE,
        ref_id=order.ref_id,
        trx_id=f"T-{order.ref_id}",
        status="pending",
        sent_at=now,
        answered_at=now,
        outcome="answer",
        balance=OPENED - PRICE - 5,
    )
    with past_triggers():
        Exchange.objects.filter(balance=1).delete()
    report(order, "success", source=SUBMIT)

    assert reconciliation.reconcile().state == "unexplained"
    assert amounts() == [-5]


def test_a_backlog_is_compared_in_one_run_by_small_transactions(monkeypatch: pytest.MonkeyPatch):
    open_books(OPENED)
    monkeypatch.setattr("reconciliation.services.reconciling._MOST_READINGS", 2)
    for taken in (0, 1, 1, 3, 3):
        read_balance(OPENED - taken)

    run = reconciliation.reconcile()

    assert run.reported == OPENED - 3
    assert amounts() == [-2, -1]


def test_given_no_quiet_30_s_the_balance_is_read_again():
    with time_machine.travel(ago(seconds=90), tick=True):
        open_books(OPENED)
    order = sent()
    read_balance(OPENED - PRICE)
    report(order, "success")
    reconciliation.reconcile()

    now = timezone.now()
    assert not reconciliation.take_reading_again(now)
    assert reconciliation.take_reading_again(now + dt.timedelta(seconds=6))
    assert not reconciliation.take_reading_again(now + dt.timedelta(seconds=6))


def test_a_quiet_reading_is_read_again_only_in_its_minute():
    with time_machine.travel(ago(seconds=90), tick=True):
        open_books(OPENED)

    tell(OPENED)

    assert Reconciliation.objects.get().read_again_at is None


# --- orders that wait for a person --------------------------------------------------------------------------------


def test_what_never_arrived_keeps_no_books_from_opening():
    order = sent()
    never_arrived(order)

    assert tell(50_000).state == "balanced"
    assert ledger.books().balance == 50_000
    # It seemed not charged. If it was charged, this finds it.
    report(order, "success")
    tell(50_000)
    assert amounts() == [PRICE]


def test_sixty_orders_that_wait_change_nothing(django_assert_max_num_queries: Any):
    open_books(60 * PRICE + 1_000)
    for _ in range(60):
        never_arrived(sent())
    read_balance(60 * PRICE)

    # Less than one query more for each order; the proof reads each block of keys, also blocks of other tests.
    with django_assert_max_num_queries(80):
        run = reconciliation.reconcile()

    assert (run.state, run.blocking, amounts()) == ("unexplained", [], [-1_000])


def test_an_accepted_order_that_is_forgotten_ends_no_comparing():
    open_books(OPENED)
    order = sent()
    report(order, "pending", source=SUBMIT)
    assert tell(OPENED - PRICE).blocking == [order.ref_id]

    order.refresh_from_db()
    asked(order)
    _count_not_found(order)

    assert Incident.objects.get().kind == Incident.Kind.LOST_AFTER_ACCEPTANCE
    with undone():  # pending again, it is waited for
        report(order, "pending", asked_no=asked(order, "pending").pk)
        assert tell(OPENED - PRICE).blocking == [order.ref_id]
    assert tell(OPENED - PRICE - 250_000).state == "unexplained"
    assert amounts() == [-250_000]


def test_an_order_that_stays_unknown_is_not_waited_for():
    open_books(OPENED)
    for minutes, times, blocks in ((16, 10, False), (14, 10, True), (16, 9, True)):
        with undone():
            with time_machine.travel(ago(minutes=minutes), tick=True):
                order = sent()
                for _ in range(times):
                    asked(order)

            run = tell(OPENED)

            assert run.blocking == ([order.ref_id] if blocks else []), (minutes, times)
            assert run.state == ("provisional" if blocks else "balanced"), (minutes, times)


# --- several workers, several clocks ------------------------------------------------------------------------------


def test_clocks_an_hour_apart_find_the_same():
    open_books(OPENED)
    now = timezone.now()
    with time_machine.travel(now + dt.timedelta(hours=1), tick=True):
        early = sent()
        report(early, "pending", source=SUBMIT)
        read_balance(OPENED - PRICE)
        assert reconciliation.reconcile().blocking == [early.ref_id]
    with time_machine.travel(now - dt.timedelta(hours=1), tick=True):
        report(early, "failed", source=CALLBACK)
        late = sent()
        report(late, "success", source=SUBMIT)
    with time_machine.travel(now + dt.timedelta(hours=1), tick=True):
        assert tell(OPENED - PRICE - 1).state == "unexplained"
    with time_machine.travel(now - dt.timedelta(hours=1), tick=True):
        assert tell(OPENED - PRICE - 1).state == "unexplained"

    assert amounts() == [-1]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A function that sets a thread's clock so many hours ahead, as if each thread were a machine."""
    real, machine = timezone.now, threading.local()
    monkeypatch.setattr(timezone, "now", lambda: real() + dt.timedelta(hours=getattr(machine, "ahead", 0)))
    return lambda hours: setattr(machine, "ahead", hours)


def test_workers_with_clocks_an_hour_apart_work_at_once(set_clock: Callable[[int], None]):
    open_books(OPENED)
    set_clock(-1)
    order = sent()
    set_clock(1)
    report(order, "success", source=CALLBACK)
    for taken in range(20):
        set_clock(1 if taken % 2 else -1)
        read_balance(OPENED - PRICE - taken)

    def worker(hours: int) -> Any:
        set_clock(hours)
        return reconciliation.reconcile()

    runs = at_once(*[lambda hours=hours: worker(hours) for hours in (-1, 0, 1)])

    assert not [run for run in runs if isinstance(run, Exception)]
    assert amounts() == [-1] * 19
    assert ledger.books().found == -19
    moments = Exchange.objects.order_by("pk").values_list("sent_at", flat=True)
    assert list(moments) != sorted(moments)
