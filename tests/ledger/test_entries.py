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


def test_a_placed_order_reserves_its_price_and_nothing_else():
    open_books(100_000)

    order = place()

    assert entries_of(order) == RESERVED
    assert (ledger.books().balance, ledger.books().reserved, ledger.available()) == (100_000, PRICE, 89_500)


def test_accepted_then_success_is_one_debit():
    order = place()
    claim(order.pk)
    assert entries_of(order) == RESERVED

    report(order, "pending", source=SUBMIT)
    assert entries_of(order) == DEBITED
    report(order, "success", source=CALLBACK)
    report(order, "success", source=POLL)

    assert entries_of(order) == DEBITED
    assert (ledger.books().balance, ledger.books().reserved) == (-PRICE, 0)


def test_accepted_then_failed_is_refunded_once():
    order = place()
    claim(order.pk)
    report(order, "pending", source=SUBMIT)

    for source in (CALLBACK, POLL):
        report(order, "failed", source=source)

    assert entries_of(order) == REFUNDED
    assert ledger.books().balance == 0


def test_failed_straight_from_unknown_is_debited_and_refunded():
    order = place()
    claim(order.pk)
    answer(order, Status.UNKNOWN)
    assert entries_of(order) == RESERVED

    report(order, "failed")

    assert entries_of(order) == REFUNDED


def test_debit_and_refund_are_what_the_upstream_charged():
    order = place()
    claim(order.pk)

    report(order, "pending", source=SUBMIT, price=10_000)
    report(order, "failed", price=10_000)

    assert entries_of(order) == [*RELEASED, ("debit", 10_000), ("refund", 10_000)]


@pytest.mark.parametrize(
    ("status", "facts"),
    [(Status.REJECTED, {}), (Status.NEEDS_ACTION, {"action_reason": ActionReason.CUT_OFF})],
    ids=["rejected", "held"],
)
def test_a_definite_no_releases(status, facts):
    order = place()
    claim(order.pk)

    answer(order, status, error_code="X", **facts)

    assert entries_of(order) == RELEASED


def test_not_sent_and_queued_again_stays_reserved():
    order = place()
    claim(order.pk)

    answer(order, Status.QUEUED, wait=10)
    claim(order.pk)

    assert entries_of(order) == RESERVED


def test_debit_and_refund_carry_the_orders_cashier(admin):
    order = place(placed_by=admin)
    claim(order.pk)

    report(order, "failed")

    assert {entry.actor for entry in Entry.objects.filter(kind__in=["debit", "refund"])} == {admin}


def test_a_cancelled_order_releases_its_reservation(admin):
    order = place()

    cancel_order(order, actor=admin)

    assert entries_of(order) == RELEASED
    assert Entry.objects.get(kind="release").actor == admin


def test_never_arrived_stays_reserved_until_a_person_closes_it(admin, monkeypatch):
    monkeypatch.setattr(resolving, "poll_before_deciding", lambda order: None)
    order = place()
    never_arrived(order)
    assert entries_of(order) == RESERVED

    order.refresh_from_db()
    close_never_arrived(order, actor=admin)

    assert entries_of(order) == RELEASED


def test_never_arrived_and_reported_all_the_same_is_debited():
    order = place()
    never_arrived(order)

    report(order, "success")

    assert entries_of(order) == DEBITED


def test_an_order_reserves_again_when_it_is_queued_again():
    order = place()
    claim(order.pk)
    answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)

    with transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=order.pk), max_price=11_000, actor=None)

    assert entries_of(order) == [*RELEASED, ("hold", 11_000)]


def test_an_order_queued_again_with_too_little_needs_action():
    order = place()
    claim(order.pk)
    answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)
    open_books(5_000)

    with pytest.raises(BalanceShort), transaction.atomic():
        resolving.requeue(Order.objects.select_for_update().get(pk=order.pk), max_price=PRICE, actor=None)

    order.refresh_from_db()
    assert order.status == Status.NEEDS_ACTION
    assert entries_of(order) == RELEASED


def test_a_contradiction_posts_nothing():
    order = place()
    claim(order.pk)
    report(order, "success")

    report(order, "failed", source=CALLBACK)

    assert entries_of(order) == DEBITED


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


def test_an_order_above_available_is_refused_and_not_stored():
    open_books(20_000)
    place()

    with pytest.raises(BalanceShort) as refusal:
        place()

    assert (refusal.value.price, refusal.value.available) == (PRICE, 9_500)
    assert "Rp10.500" in str(refusal.value)
    assert Order.objects.count() == 1
    assert Entry.objects.filter(kind="hold").count() == 1


def test_before_the_first_reading_nothing_is_refused():
    assert ledger.available() is None

    assert place().status == Status.QUEUED


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


def test_the_database_refuses_to_change_or_delete_an_entry():
    order = place()
    entry = Entry.objects.get(ref_id=order.ref_id)

    for attempt in (
        lambda: Entry.objects.filter(pk=entry.pk).update(amount=1),
        lambda: Entry.objects.filter(pk=entry.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
            attempt()


def test_the_database_itself_refuses_to_truncate_the_entries():
    place()
    with pytest.raises(DatabaseError, match="never truncated"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE ledger_entry CASCADE")

    assert Entry.objects.count() == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "debit", "amount": 0, "balance_change": 0, "reserved_change": 0},
        {"kind": "debit", "amount": -5, "balance_change": 5, "reserved_change": 0},
        {"kind": "debit", "amount": 5, "balance_change": 5, "reserved_change": 0},
        {"kind": "hold", "amount": 5, "balance_change": -5, "reserved_change": 5},
        {"kind": "topup", "amount": 5, "balance_change": 5, "reserved_change": 0, "ref_id": "B1"},
        {"kind": "refund", "amount": 5, "balance_change": 5, "reserved_change": 0, "ref_id": ""},
    ],
    ids=["zero", "negative", "wrong way", "hold of balance", "top-up of an order", "refund of nothing"],
)
def test_the_database_refuses_an_entry_that_makes_no_sense(facts):
    facts = {"ref_id": "B1", "order_kind": "purchase", **facts}
    with pytest.raises(IntegrityError), transaction.atomic():
        Entry.objects.create(balance_after=0, reserved_after=0, **facts)


@pytest.mark.parametrize(("kind", "change"), [("debit", -5), ("refund", 5)])
def test_the_database_itself_refuses_a_second_debit_or_refund(kind, change):
    facts = {
        "kind": kind,
        "amount": 5,
        "balance_change": change,
        "reserved_change": 0,
        "balance_after": 0,
        "reserved_after": 0,
    }
    Entry.objects.create(ref_id="B1", order_kind="purchase", **facts)

    with pytest.raises(IntegrityError), transaction.atomic():
        Entry.objects.create(ref_id="B1", order_kind="purchase", **facts)


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
