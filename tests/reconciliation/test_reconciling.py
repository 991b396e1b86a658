"""The books against the sandbox over HTTP: acts in its dashboard are found exactly, and attributed."""

from typing import Any

import pytest

from gateway import services as gateway
from gateway.models import Exchange
from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from purchases.services.polling import follow
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.facts import readings
from tests.conftest import Upstream
from tests.reconciliation.helpers import OPENING, agree, buy, reconcile, spend_in_dashboard
from upstream.endpoints import Endpoint


def test_the_books_open_at_the_first_reading_less_earlier_moves(upstream: Upstream):
    order = buy(1)
    assert order.status == Status.SUCCESS
    assert ledger.available() is None

    run = reconcile()

    assert run.state == "balanced"
    opening = Entry.objects.get(kind="opening")
    assert opening.amount == OPENING
    assert ledger.books().balance == OPENING - order.shown_price
    agree(upstream)


def test_the_books_are_not_opened_while_an_outcome_is_open(upstream: Upstream, settings: Any):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 3600.0
    buy(11, wait=0)

    assert reconcile(seconds=0).state == "waiting"

    assert not Entry.objects.filter(kind="opening").exists()


ENDINGS = {"ok": 1, "failed": 4, "cut": 5, "hang": 6, "late": 12, "callback first": 13}


def test_every_ending_of_an_order_ends_balanced(shop: Upstream):
    for ending, number in ENDINGS.items():
        order = buy(number, wait=15)
        assert order.is_final, ending

        run = reconcile()

        assert (run.state, run.difference, run.blocking) == ("balanced", 0, []), ending
        assert not Difference.objects.exists(), ending
        agree(shop)


def test_a_pending_order_is_asked_about_and_none_is_left_open(shop: Upstream):
    order = buy(3, wait=0.5)
    assert order.status == Status.PENDING

    run = reconcile()

    assert (run.state, run.blocking) == ("balanced", [])
    assert ledger.books().balance == OPENING - order.shown_price
    # then: the balance of a status answer is never reconciled
    assert Exchange.objects.filter(ref_id=order.ref_id, endpoint=Endpoint.TRANSACTION_STATUS).exists()
    assert list(readings().filter(ref_id=order.ref_id).values_list("pk", flat=True)) == [order.sent_no]


def test_a_top_up_during_open_orders_is_labelled_with_its_amount(shop: Upstream):
    for number in range(100, 104):
        buy(number, wait=0)
    shop.control("topup", amount=1)
    for number in range(104, 106):
        buy(number, wait=0)

    for order in Order.objects.all():
        follow(order, seconds=10)
    run = reconcile()

    assert (run.state, run.difference) == ("topup_unacknowledged", 1)
    difference = Difference.objects.get()
    assert (difference.amount, difference.label, difference.state) == (1, "topup", "open")


def test_one_rupiah_taken_in_secret_is_found_and_named(shop: Upstream):
    buy(1)
    spend_in_dashboard(shop, -1)
    buy(4)

    run = reconcile()

    assert (run.state, run.difference) == ("unexplained", -1)
    difference = Difference.objects.get()
    assert (difference.amount, difference.label, difference.candidates) == (-1, "unexplained_debit", [])
    assert difference.from_at < difference.to_at


def test_findings_are_provisional_until_open_orders_are_final(shop: Upstream, settings: Any):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 3600.0
    order = buy(12, wait=0.2)
    assert order.status == Status.UNKNOWN
    spend_in_dashboard(shop, -7)
    gateway.read_balance()

    run = reconciliation.reconcile()

    # then: the sign depends on whether it was charged, so the page names both cases
    assert (run.state, run.difference, run.blocking) == ("provisional", None, [order.ref_id])
    assert reconciliation.position().between == (-7, order.shown_price - 7)
    assert not Difference.objects.exists()
    follow(order, seconds=10)
    assert (reconcile().state, Difference.objects.get().amount) == ("unexplained", -7)


def test_a_missing_refund_is_attributed_and_settled_when_late(shop: Upstream):
    order = buy(4)
    assert order.status == Status.FAILED
    spend_in_dashboard(shop, -order.shown_price)  # as if its refund had not come

    reconcile()

    difference = Difference.objects.get()
    assert (difference.amount, difference.label) == (-order.shown_price, "missing_refund")
    assert difference.candidates[0] == {"ref_id": order.ref_id, "why": "missing_refund"}

    spend_in_dashboard(shop, order.shown_price)
    run = reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    difference.refresh_from_db()
    late = Difference.objects.get(label="late_refund")
    assert (difference.state, difference.closed_with, late.closed_with) == ("acknowledged", late, difference)
    assert late.candidates == [{"ref_id": order.ref_id, "why": "late_refund"}]
    assert not Entry.objects.filter(kind__in=["topup", "adjustment"]).exists()
    agree(shop)


def test_a_double_refund_or_debit_names_its_order(shop: Upstream):
    failed = buy(4)
    spend_in_dashboard(shop, failed.shown_price)

    run = reconcile()

    refund = Difference.objects.get()
    assert (refund.amount, refund.label) == (failed.shown_price, "double_refund")
    assert refund.candidates[0] == {"ref_id": failed.ref_id, "why": "double_refund"}
    assert run.state == "unexplained"

    order = buy(1)
    spend_in_dashboard(shop, -order.shown_price)
    reconcile()

    debit = Difference.objects.exclude(pk=refund.pk).get()
    assert (debit.amount, debit.label) == (-order.shown_price, "unexplained_debit")
    assert {"ref_id": order.ref_id, "why": "double_debit"} in debit.candidates


def test_an_interrupted_run_changes_nothing_and_the_next_agrees(shop: Upstream, monkeypatch: Any):
    runs = ReconciliationRun.objects.count()
    for _ in range(3):
        reconciliation.reconcile()
    assert ReconciliationRun.objects.count() == runs  # nothing new is no new row
    spend_in_dashboard(shop, -3)
    gateway.read_balance()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr("reconciliation.services.reconciling._store", fail)
        with pytest.raises(RuntimeError):
            reconciliation.reconcile()
    assert not Difference.objects.exists()

    reconciliation.reconcile()
    reconciliation.reconcile()

    assert [difference.amount for difference in Difference.objects.all()] == [-3]
