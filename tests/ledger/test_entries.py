"""Each path through an order's life posts exactly its entries, in the transaction of the move."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from drawers.services.facts import PaymentFacts
from ledger import services as ledger
from ledger.errors import NotEnough
from ledger.models import Books, Entry
from purchases.errors import BalanceShort
from purchases.models import Order
from purchases.services import cancel_order, close_never_arrived, resolving
from purchases.services.placing import queue_order
from purchases.services.sending import claim
from purchases.services.waiting import queue_waiting_orders
from purchases.states import ActionReason, Status
from reconciliation import services as reconciliation
from testing.factories import entries_of, make_order, make_product
from testing.orders import CALLBACK, POLL, SUBMIT, answer, at_once, never_arrived, place, report
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, post

pytestmark = pytest.mark.django_db(transaction=True)

PRICE = 10_500


@pytest.fixture
def admin(django_user_model):
    return django_user_model.objects.create_superuser("admin")


RESERVED = [("hold", PRICE)]
RELEASED = [("hold", PRICE), ("release", PRICE)]
DEBITED = [*RELEASED, ("debit", PRICE)]
REFUNDED = [*DEBITED, ("refund", PRICE)]


def test_a_placed_order_reserves_its_price_and_one_above_available_is_refused_and_not_stored():
    open_books(20_000)

    order = place()

    assert entries_of(order) == RESERVED
    assert (ledger.books().balance, ledger.books().reserved, ledger.available()) == (20_000, PRICE, 9_500)
    with pytest.raises(BalanceShort) as refusal:
        place()
    assert (refusal.value.price, refusal.value.available) == (PRICE, 9_500)
    assert "Rp10.500" in str(refusal.value)
    assert Order.objects.count() == 1
    assert Entry.objects.filter(kind="hold").count() == 1


def test_accepted_then_success_is_one_debit_and_a_contradiction_posts_nothing():
    assert ledger.available() is None  # before the first reading nothing is refused
    order = place()
    claim(order.pk)
    assert entries_of(order) == RESERVED

    report(order, "pending", source=SUBMIT)
    assert entries_of(order) == DEBITED
    report(order, "success", source=CALLBACK)
    report(order, "success", source=POLL)
    assert entries_of(order) == DEBITED
    report(order, "failed", source=CALLBACK)

    assert entries_of(order) == DEBITED
    assert (ledger.books().balance, ledger.books().reserved) == (-PRICE, 0)


def test_what_fails_is_refunded_once_as_the_upstream_charged_it(admin):
    order = place(placed_by=admin)
    claim(order.pk)
    report(order, "pending", source=SUBMIT)
    for source in (CALLBACK, POLL):
        report(order, "failed", source=source)
    assert entries_of(order) == REFUNDED
    assert {entry.actor for entry in Entry.objects.filter(kind__in=["debit", "refund"])} == {admin}
    assert ledger.books().balance == 0

    order = place()  # straight from unknown
    claim(order.pk)
    answer(order, Status.UNKNOWN)
    assert entries_of(order) == RESERVED
    report(order, "failed")
    assert entries_of(order) == REFUNDED

    order = place()  # charged less
    claim(order.pk)
    report(order, "pending", source=SUBMIT, price=10_000)
    report(order, "failed", price=10_000)
    assert entries_of(order) == [*RELEASED, ("debit", 10_000), ("refund", 10_000)]


def test_a_definite_no_and_a_cancel_release_and_what_was_not_sent_stays_reserved(admin):
    for status, facts in ((Status.REJECTED, {}), (Status.NEEDS_ACTION, {"action_reason": ActionReason.CUT_OFF})):
        order = place()
        claim(order.pk)
        answer(order, status, error_code="X", **facts)
        assert entries_of(order) == RELEASED, status

    order = place()
    claim(order.pk)
    answer(order, Status.QUEUED, wait=10)
    claim(order.pk)
    assert entries_of(order) == RESERVED

    order = place()
    cancel_order(order, actor=admin)
    assert entries_of(order) == RELEASED
    assert Entry.objects.get(kind="release", ref_id=order.ref_id).actor == admin


def test_never_arrived_stays_reserved_until_a_person_closes_it_or_it_is_reported(admin, monkeypatch):
    monkeypatch.setattr(resolving, "poll_before_deciding", lambda order: None)
    order, reported = never_arrived(place()), never_arrived(place())
    assert entries_of(order) == entries_of(reported) == RESERVED

    close_never_arrived(order, actor=admin)
    report(reported, "success")

    assert entries_of(order) == RELEASED
    assert entries_of(reported) == DEBITED


def test_an_order_reserves_again_when_it_is_queued_again_and_with_too_little_needs_action():
    again, short = place(), place()
    for order in (again, short):
        claim(order.pk)
        answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)

    with transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=again.pk), max_price=11_000, actor=None)
    open_books(16_000)
    with pytest.raises(BalanceShort), transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=short.pk), max_price=PRICE, actor=None)

    assert entries_of(again) == [*RELEASED, ("hold", 11_000)]
    short.refresh_from_db()
    assert short.status == Status.NEEDS_ACTION
    assert entries_of(short) == RELEASED


def test_an_order_without_a_reservation_is_tolerated():
    order = make_order(Status.SENDING)

    report(order, "pending")
    report(order, "failed")

    assert entries_of(order) == [("debit", PRICE), ("refund", PRICE)]


def test_a_move_that_is_rolled_back_leaves_no_entry():
    order = place()
    claim(order.pk)

    with transaction.atomic():
        report(order, "pending")
        assert entries_of(order) == DEBITED
        transaction.set_rollback(True)

    assert entries_of(order) == RESERVED
    assert ledger.books().balance == 0


def test_a_waiting_order_waits_until_the_upstream_itself_tells_a_balance_that_covers_it():
    open_books(5_000)
    place(wait_for_topup=True)
    ledger.post_top_up(amount=50_000, actor=None, reason="paid in today")
    assert ledger.available() == 55_000

    assert queue_waiting_orders() == 0
    read_balance(55_000)
    assert queue_waiting_orders() == 1


def test_waiting_orders_are_queued_oldest_first(admin):
    open_books(5_000)
    first, second = place(wait_for_topup=True), place(wait_for_topup=True)
    assert (first.status, first.action_reason) == ("needs_action", ActionReason.BALANCE_SHORT)
    assert entries_of(first) == []
    assert queue_waiting_orders() == 0

    read_balance(16_000)
    run = reconciliation.reconcile()
    assert (run.state, run.difference) == ("topup_unacknowledged", 11_000)

    assert queue_waiting_orders() == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("queued", "needs_action")
    assert entries_of(first) == RESERVED
    assert ledger.available() == 5_500


def test_two_orders_at_once_never_overdraw():
    open_books(15_000)
    product = make_product()

    results = at_once(*[lambda: place(product)] * 4)

    assert sorted(type(result).__name__ for result in results) == ["BalanceShort"] * 3 + ["Order"]
    assert ledger.books().reserved == PRICE


def test_a_report_by_three_at_once_is_one_debit():
    order = place()
    claim(order.pk)

    at_once(*(lambda s=source: report(order, "failed", source=s) for source in (SUBMIT, POLL, CALLBACK)))

    assert entries_of(order) == REFUNDED


def test_the_sums_after_each_entry_are_the_sums_of_the_changes():
    open_books(100_000)
    for ending in ("success", "failed", "pending"):
        order = place()
        claim(order.pk)
        report(order, ending)

    balance_sum = held_sum = 0
    for entry in Entry.objects.all():
        assert entry.balance_before == balance_sum
        balance_sum += entry.balance_change
        held_sum += entry.reserved_change
        assert (entry.balance_after, entry.reserved_after) == (balance_sum, held_sum)
    assert (ledger.books().balance, ledger.books().reserved) == (balance_sum, held_sum) == (79_000, 0)


def test_the_database_refuses_to_change_delete_or_truncate_an_entry():
    order = place()
    entry = Entry.objects.get(ref_id=order.ref_id)

    for attempt in (
        lambda: Entry.objects.filter(pk=entry.pk).update(amount=1),
        lambda: Entry.objects.filter(pk=entry.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
            attempt()
    with pytest.raises(DatabaseError, match="never truncated"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE ledger_entry CASCADE")
    assert Entry.objects.count() == 1


def test_the_database_refuses_an_entry_that_makes_no_sense_or_a_second_debit_or_refund():
    usual = {"ref_id": "B1", "order_kind": "purchase", "balance_after": 0, "reserved_after": 0, "reserved_change": 0}
    for what, facts in {
        "zero": {"kind": "debit", "amount": 0, "balance_change": 0},
        "negative": {"kind": "debit", "amount": -5, "balance_change": 5},
        "wrong way": {"kind": "debit", "amount": 5, "balance_change": 5},
        "hold of balance": {"kind": "hold", "amount": 5, "balance_change": -5, "reserved_change": 5},
        "top-up of an order": {"kind": "topup", "amount": 5, "balance_change": 5},
        "refund of nothing": {"kind": "refund", "amount": 5, "balance_change": 5, "ref_id": ""},
    }.items():
        with pytest.raises(IntegrityError), transaction.atomic():
            Entry.objects.create(**{**usual, **facts})
        assert not Entry.objects.exists(), what

    for kind, change in (("debit", -5), ("refund", 5)):
        Entry.objects.create(kind=kind, amount=5, balance_change=change, **usual)
        with pytest.raises(IntegrityError), transaction.atomic():
            Entry.objects.create(kind=kind, amount=5, balance_change=change, **usual)


def test_a_reservation_is_never_more_than_available():
    open_books(1_000)

    with transaction.atomic():
        ledger.set_found(500)
        post("hold", "A", 1_500)
        with pytest.raises(NotEnough):
            post("hold", "B", 1)

    assert Books.objects.get().reserved == 1_500


def test_a_bill_is_reserved_like_a_purchase():
    product = make_product(category="pln", brand="pln-pasca", type="postpaid")
    order = queue_order(
        kind=Order.Kind.BILL,
        ref_id="BILL-1",
        product=product,
        destination="530000000001",
        max_price=PRICE,
        selling_price=PRICE,
        fee=0,
        idempotency_key="bill-1",
        placed_by=None,
        payment=PaymentFacts(),
        enqueue=False,
    )

    assert list(Entry.objects.values_list("kind", "order_kind", "ref_id")) == [("hold", "bill", order.ref_id)]
