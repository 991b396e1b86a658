"""What a comparison may be called: "balanced" only if the upstream's balance was compared with the books themselves."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from balance import services as balance
from balance.models import Alert, Books, Difference, Reading, Reconciliation, Spending
from purchases.models import Order, OrderEvent
from purchases.services import checking, resolving
from purchases.services.sending import claim
from tests.balance.test_ledger import PRICE, SUBMIT, never_arrived, open_with, place, report

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_low_balance(settings: Any) -> None:
    settings.ALERT_LOW_BALANCE = settings.ALERT_LOW_BALANCE_HOURS = 0


def ago(**time: float) -> dt.datetime:
    return timezone.now() - dt.timedelta(**time)


def read(rupiah: int, at: dt.datetime | None = None) -> Reading:
    at = at or timezone.now()
    return Reading.objects.create(balance=rupiah, source="balance", sent_at=at, received_at=at)


def busy_shop(since: dt.datetime, *, answer_takes: float, missing: int) -> None:
    """1.5 orders a second until a minute ago, all final by now; readings every 30 s that lack `missing` rupiah."""
    ends, every, takes = ago(seconds=60), dt.timedelta(seconds=1 / 1.5), dt.timedelta(seconds=answer_takes)
    sent = [since + number * every for number in range(int((ends - since) / every))]
    Spending.objects.bulk_create(
        Spending(
            ref_id=f"S{number}",
            order_kind="purchase",
            amount=10_000,
            sent_at=at,
            charged=True,
            known_at=at + takes,
            refunded=False,
            refund_known_at=at + 2 * takes,
            is_final=True,
        )
        for number, at in enumerate(sent)
    )
    Books.objects.update(balance=100_000_000 - 10_000 * len(sent))
    at = since + dt.timedelta(seconds=60)
    while at < ends:
        charged = sum(one + takes / 2 <= at for one in sent)
        read(100_000_000 - charged * 10_000 - missing, at)
        at += dt.timedelta(seconds=30)


def test_balances_with_too_many_open_orders_are_not_called_balanced():
    start = ago(hours=1, minutes=10)
    read(100_000_000, start)
    balance.reconcile()
    busy_shop(start + dt.timedelta(seconds=5), answer_takes=11, missing=777_000)

    run = balance.reconcile()

    assert (run.state, run.difference, run.readings_evaluated) == ("waiting", None, 0)
    assert Reconciliation.objects.get().compared_at == start


def test_a_proven_change_in_a_busy_shop_is_told_though_its_amount_is_not_known():
    start = ago(minutes=40)
    read(100_000_000, start)
    balance.reconcile()
    busy_shop(start + dt.timedelta(seconds=5), answer_takes=7.5, missing=1)

    run = balance.reconcile()
    balance.evaluate_alerts()

    assert run.state == "provisional"
    assert Alert.objects.open().get(kind=Alert.Kind.UNEXPLAINED_DIFFERENCE).key == "undecided"


def test_a_backlog_is_compared_in_one_run_by_small_transactions(monkeypatch: pytest.MonkeyPatch):
    open_with(1_000_000)
    monkeypatch.setattr("balance.services.reconciling._MOST_READINGS", 2)
    for taken in (0, 1, 1, 3, 3):
        read(1_000_000 - taken)

    run = balance.reconcile()

    assert run.reported == 999_997
    assert sorted(Difference.objects.values_list("amount", flat=True)) == [-2, -1]


def test_an_accepted_order_that_the_upstream_forgets_does_not_end_all_comparing():
    with time_machine.travel(ago(days=3), tick=True):
        open_with(1_000_000)
        order = place()
        claim(order.pk)
        report(order, "pending", source=SUBMIT)
    with time_machine.travel(ago(days=2), tick=True):
        checking._note_not_found(Order.objects.get(pk=order.pk))
    read(1_000_000 - PRICE - 250_000)

    run = balance.reconcile()

    assert run.state == "unexplained"
    assert Difference.objects.get().amount == -250_000


def test_a_forgotten_order_that_is_remembered_after_all_is_waited_for_again():
    open_with(1_000_000)
    order = place()
    claim(order.pk)
    report(order, "pending", source=SUBMIT)
    checking._note_not_found(Order.objects.get(pk=order.pk))

    balance.note_seen_pending(ref_id=order.ref_id, asked_at=timezone.now())

    assert not Spending.objects.get().is_parked


def test_an_order_that_waits_for_a_person_does_not_keep_the_books_from_opening():
    order = place()
    claim(order.pk)
    never_arrived(order)
    read(50_000)

    run = balance.reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    assert balance.books().balance == 50_000
    # Not charged, as it seemed; had it been, that would be found now.
    report(order, "success", source=OrderEvent.Source.POLL)
    read(50_000)
    balance.reconcile()
    assert Difference.objects.get().amount == PRICE


def test_a_late_arrival_stays_explained_when_the_order_is_sent_again_for_more():
    open_with(1_000_000)
    order = place()
    never_arrived(order)
    read(1_000_000 - PRICE)  # it has arrived all the same
    assert balance.reconcile().state == "balanced"

    with transaction.atomic():
        held = Order.objects.select_for_update().get(pk=order.pk)
        resolving.requeue(held, max_price=PRICE + 500, actor=None, enqueue=False)
    never_arrived(order, attempt=2)
    read(1_000_000 - PRICE)

    assert balance.reconcile().state == "balanced"


def test_books_that_were_changed_behind_the_software_are_not_called_balanced():
    open_with(1_000_000)
    Books.objects.update(balance=1_123_456)
    read(1_000_000)

    run = balance.reconcile()

    assert (run.state, run.reported, run.expected, run.difference) == ("unexplained", 1_000_000, 1_123_456, -123_456)
    assert balance.position().difference == -123_456
    assert balance.books_off_by() == 123_456


def test_a_clock_that_was_ahead_for_a_while_blinds_nobody_when_it_is_right_again():
    open_with(1_000_000)
    with time_machine.travel(timezone.now() + dt.timedelta(days=30), tick=True):
        order = place()
        claim(order.pk)
        report(order, "pending", source=SUBMIT)
        report(order, "success")
        read(1_000_000 - PRICE)
        assert balance.reconcile().state == "balanced"

    read(400_000)
    run = balance.reconcile()

    assert (run.reported, run.state) == (400_000, "unexplained")
    assert Difference.objects.get().amount == 400_000 - (1_000_000 - PRICE)
    assert balance.books_off_by() == 0
