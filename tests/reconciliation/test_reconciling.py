"""The books against the sandbox over HTTP: what people do in its dashboard is found, exactly, and attributed."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from catalogue.models import Product
from gateway import services as gateway
from gateway.models import Exchange
from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from purchases.services import place_order, submit
from purchases.services.following import follow
from purchases.services.waiting import queue_waiting_orders
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference, ExpectedTopUp, ReconciliationRun
from reconciliation.services.facts import readings
from reconciliation.services.on_demand import reconcile_now
from tests.conftest import Upstream
from tests.reconciliation.helpers import make_difference
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint

OPENING = 10_000_000


@pytest.fixture
def shop(upstream: Upstream, settings: Any) -> Upstream:
    """A shop whose books are opened and agree."""
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 2.0
    assert reconcile().state == "balanced"
    return upstream


@pytest.fixture
def people(django_user_model: Any) -> tuple[Any, Any]:
    create = django_user_model.objects.create_user
    return create("first"), create("second")


def reconcile(seconds: float = 10) -> ReconciliationRun:
    run, fault = reconcile_now(seconds=seconds)
    assert fault == ""
    return run


def spend_in_dashboard(upstream: Upstream, amount: int) -> None:
    """Move the balance by `amount` (rupiah, signed) outside of the API."""
    now = upstream.process.control("ledger")["balance"]
    upstream.control("account", balance=now + amount)


def buy(number: int, *, wait: float = 10.0, send: bool = True, **facts: Any) -> Order:
    product = Product.objects.get(name="Telkomsel 10.000")
    order = place_order(
        product=product,
        destination=f"0812900000{number:02d}" if number < 100 else f"0812{number:08d}",
        max_price=product.price,
        idempotency_key=str(uuid.uuid4()),
        placed_by=None,
        confirm_repeat=True,
        enqueue=False,
        **facts,
    )
    if send:
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        order = follow(order, seconds=wait)
    return order


def agree(upstream: Upstream) -> None:
    """The books say what the sandbox's own ledger says."""
    assert ledger.books().balance == upstream.process.control("ledger")["balance"]


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


@pytest.mark.parametrize("number", [1, 4, 5, 6, 12, 13], ids=["ok", "failed", "cut", "hang", "late", "callback first"])
def test_every_ending_of_an_order_ends_balanced(shop: Upstream, number: int):
    order = buy(number, wait=15)
    assert order.is_final

    run = reconcile()

    assert (run.state, run.difference, run.blocking) == ("balanced", 0, [])
    assert not Difference.objects.exists()
    agree(shop)


def test_a_pending_order_is_asked_about_and_none_is_left_open(shop: Upstream):
    order = buy(3, wait=0.5)
    assert order.status == Status.PENDING

    run = reconcile()

    assert (run.state, run.blocking) == ("balanced", [])
    assert ledger.books().balance == OPENING - order.shown_price


@pytest.mark.parametrize("amount", [1, 777_777, 5_000_000])
def test_a_top_up_during_open_orders_is_labelled_with_its_amount(shop: Upstream, amount: int):
    for number in range(100, 112):
        buy(number, wait=0)
    shop.control("topup", amount=amount)
    for number in range(112, 118):
        buy(number, wait=0)

    for order in Order.objects.all():
        follow(order, seconds=10)
    run = reconcile()

    assert (run.state, run.difference) == ("topup_unacknowledged", amount)
    found = Difference.objects.get()
    assert (found.amount, found.label, found.state) == (amount, "topup", "open")


def test_one_rupiah_taken_in_secret_is_found_and_named(shop: Upstream):
    buy(1)
    spend_in_dashboard(shop, -1)
    buy(4)

    run = reconcile()

    assert (run.state, run.difference) == ("unexplained", -1)
    found = Difference.objects.get()
    assert (found.amount, found.label, found.candidates) == (-1, "unexplained_debit", [])
    assert found.from_at < found.to_at


def test_findings_are_provisional_until_open_orders_are_final(shop: Upstream, settings: Any):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 3600.0
    order = buy(12, wait=0.2)
    assert order.status == Status.UNKNOWN
    spend_in_dashboard(shop, -7)
    gateway.read_balance()

    run = reconciliation.reconcile()

    assert (run.state, run.difference, run.blocking) == ("provisional", -7, [order.ref_id])
    assert not Difference.objects.exists()
    follow(order, seconds=10)
    assert (reconcile().state, Difference.objects.get().amount) == ("unexplained", -7)


def test_an_announced_top_up_is_acknowledged_by_itself(shop: Upstream, people: Any):
    expected = reconciliation.announce_top_up(amount=250_000, actor=people[0], note="transfer of Friday")
    shop.control("topup", amount=250_000)

    run = reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    expected.refresh_from_db()
    entry = Entry.objects.get(kind="topup")
    assert expected.difference == Difference.objects.get()
    assert (entry.amount, entry.actor, entry.reason) == (250_000, people[0], "transfer of Friday")
    agree(shop)


def test_a_top_up_before_its_announcement_is_acknowledged_then(shop: Upstream, people: Any):
    shop.control("topup", amount=250_000)
    reconcile()

    reconciliation.announce_top_up(amount=250_000, actor=people[0])

    assert reconcile().state == "balanced"
    assert Entry.objects.get(kind="topup").amount == 250_000


def test_another_amount_than_announced_waits_for_a_person(shop: Upstream, people: Any):
    expected = reconciliation.announce_top_up(amount=250_000, actor=people[0])
    shop.control("topup", amount=250_001)

    assert reconcile().state == "topup_unacknowledged"
    found = reconciliation.acknowledge_top_up(Difference.objects.get(), actor=people[1], note="bank fee")

    assert (found.state, found.acknowledged_by, found.note) == ("acknowledged", people[1], "bank fee")
    assert reconcile().state == "balanced"
    agree(shop)
    reconciliation.cancel_expected_top_up(expected, actor=people[1])
    with pytest.raises(DecisionRefused):
        reconciliation.cancel_expected_top_up(expected, actor=people[1])
    assert not ExpectedTopUp.objects.filter(cancelled_at__isnull=True).exists()


def test_a_negative_difference_needs_a_reason_and_two_people(shop: Upstream, people: Any):
    first, second = people
    spend_in_dashboard(shop, -5_000)
    reconcile()
    found = Difference.objects.get()

    with pytest.raises(DecisionRefused):
        reconciliation.acknowledge_top_up(found, actor=first)
    with pytest.raises(DecisionRefused):
        reconciliation.propose_adjustment(found, actor=first, reason=" ")
    proposed = reconciliation.propose_adjustment(found, actor=first, reason="bought by hand")
    with pytest.raises(DecisionRefused):
        reconciliation.propose_adjustment(found, actor=second, reason="again")
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(proposed, actor=first)
    assert not Entry.objects.filter(kind="adjustment").exists()

    reconciliation.approve_adjustment(proposed, actor=second)

    entry = Entry.objects.get(kind="adjustment")
    assert (entry.balance_change, entry.actor, entry.reason) == (-5_000, second, "bought by hand")
    assert reconcile().state == "balanced"
    agree(shop)


def test_a_declined_adjustment_leaves_the_difference_open(shop: Upstream, people: Any):
    spend_in_dashboard(shop, -5_000)
    reconcile()
    proposed = reconciliation.propose_adjustment(Difference.objects.get(), actor=people[0], reason="?")

    reconciliation.decline_adjustment(proposed, actor=people[1])

    assert Difference.objects.open().count() == 1
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(proposed, actor=people[1])


def test_the_database_itself_refuses_one_person_as_both(people: Any):
    found = make_difference(-1)

    with pytest.raises(IntegrityError), transaction.atomic():
        Adjustment.objects.create(
            difference=found, reason="x", proposed_by=people[0], approved_by=people[0], decided_at=timezone.now()
        )


def test_a_missing_refund_is_attributed_and_settled_when_late(shop: Upstream):
    order = buy(4)
    assert order.status == Status.FAILED
    spend_in_dashboard(shop, -order.shown_price)  # as if its refund had not come

    reconcile()

    found = Difference.objects.get()
    assert (found.amount, found.label) == (-order.shown_price, "missing_refund")
    assert found.candidates[0] == {"ref_id": order.ref_id, "why": "missing_refund"}

    spend_in_dashboard(shop, order.shown_price)
    run = reconcile()

    assert (run.state, run.difference) == ("balanced", 0)
    found.refresh_from_db()
    late = Difference.objects.get(label="late_refund")
    assert (found.state, found.closed_with, late.closed_with) == ("acknowledged", late, found)
    assert late.candidates == [{"ref_id": order.ref_id, "why": "late_refund"}]
    assert not Entry.objects.filter(kind__in=["topup", "adjustment"]).exists()
    agree(shop)


def test_a_double_refund_is_attributed_to_the_order_that_failed(shop: Upstream):
    order = buy(4)
    spend_in_dashboard(shop, order.shown_price)

    run = reconcile()

    found = Difference.objects.get()
    assert (found.amount, found.label) == (order.shown_price, "double_refund")
    assert found.candidates[0] == {"ref_id": order.ref_id, "why": "double_refund"}
    assert run.state == "unexplained"


def test_a_double_debit_names_the_order_maybe_charged_twice(shop: Upstream):
    order = buy(1)
    spend_in_dashboard(shop, -order.shown_price)

    reconcile()

    found = Difference.objects.get()
    assert (found.amount, found.label) == (-order.shown_price, "unexplained_debit")
    assert {"ref_id": order.ref_id, "why": "double_debit"} in found.candidates


def test_the_balance_of_a_status_answer_is_never_reconciled(shop: Upstream):
    order = buy(1)

    statuses = Exchange.objects.filter(ref_id=order.ref_id, endpoint=Endpoint.TRANSACTION_STATUS)
    assert statuses.exists()
    assert list(readings().filter(ref_id=order.ref_id).values_list("pk", flat=True)) == [order.sent_no]


def test_an_order_that_waits_for_a_top_up_is_sent_after_it(shop: Upstream):
    spend_in_dashboard(shop, -(OPENING - 500))
    reconcile()
    order = buy(1, send=False, wait_for_topup=True)
    assert order.status == Status.NEEDS_ACTION

    shop.control("topup", amount=50_000)
    reconcile()

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert order.events.count() == 2
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS


def test_the_command_is_refused_above_the_balance_or_may_wait(shop: Upstream, capsys: Any):
    spend_in_dashboard(shop, -(OPENING - 500))
    reconcile()
    product = Product.objects.get(name="Telkomsel 10.000")
    arguments = ("buy", "--product", product.code, "--destination", "081290000001", "--json")

    with pytest.raises(CommandError, match="Rp500"):
        call_command(*arguments)
    assert not Order.objects.exists()
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--wait-for-topup")

    assert ended.value.code == 3
    assert Order.objects.get().action_reason == "balance_short"
    assert shop.calls(Order.objects.get()) == []


def test_reconcile_prints_one_object_and_exits_with_the_state(shop: Upstream, capsys: Any):
    def run() -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            call_command("reconcile", "--json")
        return int(str(ended.value.code)), json.loads(capsys.readouterr().out)

    code, facts = run()
    assert (code, facts["state"], facts["difference"], facts["differences"]) == (0, "balanced", 0, [])

    spend_in_dashboard(shop, -1)
    code, facts = run()

    assert (code, facts["state"], facts["difference"]) == (1, "unexplained", -1)
    assert (facts["reported"], facts["expected"]) == (OPENING - 1, OPENING)
    assert [found["amount"] for found in facts["differences"]] == [-1]


def test_a_silent_upstream_keeps_the_last_comparison_and_says_so(shop: Upstream, settings: Any, capsys: Any):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()

    with pytest.raises(SystemExit) as ended:
        call_command("reconcile", "--wait", "0")

    out = capsys.readouterr()
    assert (ended.value.code, out.out) == (3, "waiting: Rp0\n")
    assert "could not be read" in out.err


def test_what_the_upstream_finds_short_waits_for_a_newer_balance(shop: Upstream):
    order = buy(20, wait_for_topup=True)
    assert (order.status, order.action_reason) == ("held", "balance_short")
    assert queue_waiting_orders() == 0
    shop.control("topup", amount=50_000)

    reconcile()

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS


def test_a_run_that_finds_nothing_new_is_no_new_row(shop: Upstream):
    runs = ReconciliationRun.objects.count()

    for _ in range(3):
        reconciliation.reconcile()

    assert ReconciliationRun.objects.count() == runs


def test_an_interrupted_run_changes_nothing_and_the_next_agrees(shop: Upstream, monkeypatch: Any):
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

    assert [found.amount for found in Difference.objects.all()] == [-3]
