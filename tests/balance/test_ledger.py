"""Each path through an order's life posts exactly its entries, in the transaction of the move."""

from __future__ import annotations

import uuid

import pgtrigger
import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from balance import services as balance
from balance.errors import NotEnough
from balance.models import Books, Difference, Entry, Reading, Spending
from purchases.errors import BalanceShort
from purchases.models import Order, OrderEvent, Product
from purchases.order_life import HoldReason, Status
from purchases.services import Outcome, apply_outcome, cancel_order, close_never_arrived, place_order, resolving
from purchases.services.placing import queue_order
from purchases.services.sending import claim
from purchases.services.waiting import queue_waiting_orders
from tests.factories import make_order, make_product, reported
from tests.races.test_orders import at_once

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT, POLL, CALLBACK = OrderEvent.Source.SUBMIT, OrderEvent.Source.POLL, OrderEvent.Source.CALLBACK
PRICE = 10_500


@pytest.fixture
def admin(django_user_model):
    return django_user_model.objects.create_superuser("admin")


def open_with(rupiah: int) -> None:
    """The books, opened with this balance by a first reading."""
    now = timezone.now()
    Reading.objects.create(balance=rupiah, source="balance", sent_at=now, received_at=now)
    assert balance.reconcile().state == "balanced"


def place(product: Product | None = None, **facts: object) -> Order:
    product = product or make_product()
    return place_order(
        product=product,
        destination=f"0812{uuid.uuid4().int % 10**8:08d}",
        max_price=product.price,
        idempotency_key=str(uuid.uuid4()),
        placed_by=None,
        enqueue=False,
        **facts,
    )


def report(order: Order, status: str, *, source: OrderEvent.Source = POLL, **facts: object) -> Order:
    return apply_outcome(order.pk, Outcome.reported(reported(order, status, **facts), raw=None), source=source)


def answer(order: Order, status: Status, **facts: object) -> Order:
    current = Order.objects.get(pk=order.pk)
    return apply_outcome(current.pk, Outcome(status=status, **facts), source=SUBMIT, attempt=current.attempt)


def entries(order: Order) -> list[tuple[str, int]]:
    return list(Entry.objects.filter(ref_id=order.ref_id).values_list("kind", "amount"))


def spent(order: Order) -> tuple[bool | None, bool | None, bool, bool]:
    row = Spending.objects.get(ref_id=order.ref_id)
    return row.charged, row.refunded, row.is_final, row.is_parked


HELD_ONCE = [("hold", PRICE)]
RELEASED = [("hold", PRICE), ("release", PRICE)]
DEBITED = [*RELEASED, ("debit", PRICE)]
REFUNDED = [*DEBITED, ("refund", PRICE)]


def test_a_placed_order_holds_its_price_and_nothing_else():
    open_with(100_000)

    order = place()

    assert entries(order) == HELD_ONCE
    assert (balance.books().balance, balance.books().held, balance.available()) == (100_000, PRICE, 89_500)
    assert not Spending.objects.exists()


def test_accepted_then_success_is_one_debit():
    order = place()
    claim(order.pk)
    assert entries(order) == HELD_ONCE
    assert spent(order) == (None, None, False, False)

    report(order, "pending", source=SUBMIT)
    assert entries(order) == DEBITED
    assert spent(order) == (True, None, False, False)
    report(order, "success", source=CALLBACK)
    report(order, "success", source=POLL)

    assert entries(order) == DEBITED
    assert spent(order) == (True, False, True, False)
    assert (balance.books().balance, balance.books().held) == (-PRICE, 0)


def test_accepted_then_failed_is_refunded_once():
    order = place()
    claim(order.pk)
    report(order, "pending", source=SUBMIT)

    for source in (CALLBACK, POLL):
        report(order, "failed", source=source)

    assert entries(order) == REFUNDED
    assert spent(order) == (True, True, True, False)
    assert balance.books().balance == 0


def test_failed_straight_from_unknown_is_debited_and_refunded():
    order = place()
    claim(order.pk)
    answer(order, Status.UNKNOWN)
    assert entries(order) == HELD_ONCE

    report(order, "failed")

    assert entries(order) == REFUNDED


def test_the_debit_is_what_the_upstream_charged_and_so_is_the_refund():
    order = place()
    claim(order.pk)

    report(order, "pending", source=SUBMIT, price=10_000)
    report(order, "failed", price=10_000)

    assert entries(order) == [*RELEASED, ("debit", 10_000), ("refund", 10_000)]
    assert Spending.objects.get().amount == 10_000


@pytest.mark.parametrize(
    ("status", "facts"),
    [(Status.REJECTED, {}), (Status.HELD, {"hold_reason": HoldReason.CUT_OFF})],
    ids=["rejected", "held"],
)
def test_a_definite_no_releases(status, facts):
    order = place()
    claim(order.pk)

    answer(order, status, error_code="X", **facts)

    assert entries(order) == RELEASED
    assert spent(order)[0] is False


def test_not_sent_and_queued_again_keeps_its_hold_and_is_known_not_charged():
    order = place()
    claim(order.pk)

    answer(order, Status.QUEUED, wait=10)
    assert (entries(order), spent(order)[0]) == (HELD_ONCE, False)
    first = Spending.objects.get().sent_at
    claim(order.pk)

    assert entries(order) == HELD_ONCE
    assert spent(order)[0] is None
    assert Spending.objects.get().sent_at > first


def test_sent_again_after_doubt_may_have_been_charged_since_the_first_time():
    order = place()
    claim(order.pk)
    first = Spending.objects.get().sent_at
    answer(order, Status.UNKNOWN)
    apply_outcome(order.pk, Outcome(status=Status.QUEUED, wait=0), source=POLL)

    claim(order.pk)
    answer(order, Status.QUEUED, wait=10)

    assert Spending.objects.get().sent_at == first
    assert spent(order)[0] is None
    assert entries(order) == HELD_ONCE


def test_a_cancelled_order_gives_its_hold_back(admin):
    order = place()

    cancel_order(order, actor=admin)

    assert entries(order) == RELEASED
    assert Entry.objects.get(kind="release").actor == admin


def never_arrived(order: Order, *, attempt: int = 1) -> None:
    claim(order.pk)
    answer(order, Status.UNKNOWN)
    outcome = Outcome(status=Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)
    apply_outcome(order.pk, outcome, source=POLL, attempt=attempt)


def test_never_arrived_stays_held_until_a_person_closes_it(admin, monkeypatch):
    monkeypatch.setattr(resolving, "ask_before_deciding", lambda order: None)
    order = place()
    never_arrived(order)
    assert entries(order) == HELD_ONCE
    assert spent(order) == (None, None, False, True)

    order.refresh_from_db()
    close_never_arrived(order, actor=admin)

    assert entries(order) == RELEASED
    assert spent(order) == (False, None, True, False)


def test_never_arrived_and_reported_all_the_same_is_debited():
    order = place()
    never_arrived(order)

    report(order, "success")

    assert entries(order) == DEBITED
    assert spent(order) == (True, False, True, False)


def test_a_held_order_holds_anew_when_it_is_queued_again():
    order = place()
    claim(order.pk)
    answer(order, Status.HELD, hold_reason=HoldReason.CUT_OFF)

    with transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=order.pk), max_price=11_000, actor=None)

    assert entries(order) == [*RELEASED, ("hold", 11_000)]


def test_an_order_queued_again_with_too_little_available_stays_held():
    order = place()
    claim(order.pk)
    answer(order, Status.HELD, hold_reason=HoldReason.CUT_OFF)
    open_with(5_000)

    with pytest.raises(BalanceShort), transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=order.pk), max_price=PRICE, actor=None)

    order.refresh_from_db()
    assert order.status == Status.HELD
    assert entries(order) == RELEASED


def test_a_contradiction_posts_nothing():
    order = place()
    claim(order.pk)
    report(order, "success")

    report(order, "failed", source=CALLBACK)

    assert entries(order) == DEBITED
    assert spent(order) == (True, False, True, False)


def test_an_order_without_a_hold_is_tolerated():
    order = make_order(Status.SENDING)

    report(order, "pending")
    report(order, "failed")

    assert entries(order) == [("debit", PRICE), ("refund", PRICE)]


def test_a_move_that_is_rolled_back_leaves_no_entry():
    order = place()
    claim(order.pk)

    with transaction.atomic():
        report(order, "pending")
        assert entries(order) == DEBITED
        transaction.set_rollback(True)

    assert entries(order) == HELD_ONCE
    assert balance.books().balance == 0


def test_an_order_above_what_is_available_is_refused_before_anything_is_stored():
    open_with(20_000)
    place()

    with pytest.raises(BalanceShort) as refusal:
        place()

    assert (refusal.value.price, refusal.value.available) == (PRICE, 9_500)
    assert "Rp10.500" in str(refusal.value)
    assert Order.objects.count() == 1
    assert Entry.objects.filter(kind="hold").count() == 1


def test_before_the_first_reading_nothing_is_refused():
    assert balance.available() is None

    assert place().status == Status.QUEUED


def test_an_order_told_to_wait_is_stored_held_and_queued_oldest_first_once_enough_is_there(admin):
    open_with(5_000)
    first, second = place(wait_for_topup=True), place(wait_for_topup=True)
    assert (first.status, first.hold_reason) == ("held", HoldReason.BALANCE_SHORT)
    assert entries(first) == []
    assert queue_waiting_orders() == 0

    now = timezone.now()
    Reading.objects.create(balance=16_000, source="balance", sent_at=now, received_at=now)
    run = balance.reconcile()
    assert (run.state, run.difference) == ("topup_unacknowledged", 11_000)

    assert queue_waiting_orders() == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("queued", "held")
    assert entries(first) == HELD_ONCE
    assert balance.available() == 5_500


def test_two_orders_at_once_never_overdraw():
    open_with(15_000)
    product = make_product()

    results = at_once(*[lambda: place(product)] * 4)

    assert sorted(type(result).__name__ for result in results) == ["BalanceShort"] * 3 + ["Order"]
    assert balance.books().held == PRICE


def test_a_report_told_at_once_by_three_is_one_debit():
    order = place()
    claim(order.pk)

    at_once(*(lambda s=source: report(order, "failed", source=s) for source in (SUBMIT, POLL, CALLBACK)))

    assert entries(order) == REFUNDED


def test_the_sums_after_each_entry_are_the_sums_of_the_changes():
    open_with(100_000)
    for ending in ("success", "failed", "pending"):
        order = place()
        claim(order.pk)
        report(order, ending)

    balance_sum = held_sum = 0
    for entry in Entry.objects.all():
        assert entry.balance_before == balance_sum
        balance_sum += entry.balance_change
        held_sum += entry.held_change
        assert (entry.balance_after, entry.held_after) == (balance_sum, held_sum)
    assert (balance.books().balance, balance.books().held) == (balance_sum, held_sum) == (79_000, 0)


def test_the_database_itself_refuses_to_change_or_delete_an_entry():
    order = place()
    entry = Entry.objects.get(ref_id=order.ref_id)

    for attempt in (
        lambda: Entry.objects.filter(pk=entry.pk).update(amount=1),
        lambda: Entry.objects.filter(pk=entry.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
            attempt()


def test_the_database_itself_refuses_to_truncate_the_entries():
    """The tests empty their tables so; hence this one trigger is off in their database, but for here."""
    place()
    with transaction.atomic():
        pgtrigger.enable("balance.Entry:never_truncated")
        with pytest.raises(DatabaseError, match="never truncated"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("TRUNCATE balance_entry CASCADE")
        transaction.set_rollback(True)

    assert Entry.objects.count() == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "debit", "amount": 0, "balance_change": 0, "held_change": 0},
        {"kind": "debit", "amount": -5, "balance_change": 5, "held_change": 0},
        {"kind": "debit", "amount": 5, "balance_change": 5, "held_change": 0},
        {"kind": "hold", "amount": 5, "balance_change": -5, "held_change": 5},
        {"kind": "topup", "amount": 5, "balance_change": 5, "held_change": 0, "ref_id": "B1"},
        {"kind": "refund", "amount": 5, "balance_change": 5, "held_change": 0, "ref_id": ""},
    ],
    ids=["zero", "negative", "wrong way", "hold of balance", "top-up of an order", "refund of nothing"],
)
def test_the_database_itself_refuses_an_entry_that_makes_no_sense(facts):
    facts = {"ref_id": "B1", "order_kind": "purchase", **facts}
    with pytest.raises(IntegrityError), transaction.atomic():
        Entry.objects.create(balance_after=0, held_after=0, **facts)


@pytest.mark.parametrize(("kind", "change"), [("debit", -5), ("refund", 5)])
def test_the_database_itself_refuses_a_second_debit_or_refund(kind, change):
    facts = {"kind": kind, "amount": 5, "balance_change": change, "held_change": 0, "balance_after": 0, "held_after": 0}
    Entry.objects.create(ref_id="B1", order_kind="purchase", **facts)

    with pytest.raises(IntegrityError), transaction.atomic():
        Entry.objects.create(ref_id="B1", order_kind="purchase", **facts)


def test_a_hold_is_never_more_than_available_whoever_asks():
    open_with(1_000)
    Difference.objects.create(amount=500, from_at=timezone.now(), to_at=timezone.now(), label=Difference.Label.TOPUP)

    with transaction.atomic():
        balance.hold(ref_id="A", order_kind="purchase", amount=1_500)
        with pytest.raises(NotEnough):
            balance.hold(ref_id="B", order_kind="purchase", amount=1)

    assert Books.objects.get().held == 1_500


def test_a_bill_is_held_like_a_purchase():
    product = make_product(category="pln", brand="pln-pasca", type="postpaid")
    order = queue_order(
        kind=Order.Kind.BILL,
        ref_id="BILL-1",
        product=product,
        destination="530000000001",
        max_price=PRICE,
        idempotency_key="bill-1",
        placed_by=None,
        enqueue=False,
    )

    assert list(Entry.objects.values_list("kind", "order_kind", "ref_id")) == [("hold", "bill", order.ref_id)]
