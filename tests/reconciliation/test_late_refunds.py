"""The orders and announcements to which a difference is attributed: late refunds, top-ups, open outcomes."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from gateway.services import next_number
from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from reconciliation import explaining, services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Difference, ExpectedTopUp
from reconciliation.services import differences, orders_of_amount
from testing.database import undone
from testing.factories import make_product
from testing.orders import never_arrived, sent
from tests.approvals.helpers import decline
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import bought, make_difference, tell

pytestmark = pytest.mark.django_db(transaction=True)

OPENING, PRICE = 1_000_000, 10_500


def ago(**time: float) -> dt.datetime:
    return timezone.now() - dt.timedelta(**time)


def missing_refund() -> tuple[Order, Difference]:
    """An order that failed half an hour ago; the balance that was read afterwards lacks its refund."""
    with time_machine.travel(ago(minutes=30), tick=True):
        open_books(OPENING)
        order = bought("failed")
        tell(OPENING - PRICE)
    difference = Difference.objects.get()
    assert difference.label == "missing_refund"
    return order, difference


def the(amount: int) -> Difference:
    return Difference.objects.get(amount=amount)


def kinds() -> list[tuple[str, int]]:
    """The account's own entries: (kind, change)."""
    rows = Entry.objects.filter(ref_id="").exclude(kind="opening")
    return list(rows.order_by("pk").values_list("kind", "balance_change"))


def test_after_an_adjustment_a_late_refund_is_its_opposite(people: Any):
    order, missing = missing_refund()
    proposed = reconciliation.propose_adjustment(missing, actor=people[0], reason="it did not come")
    reconciliation.approve_adjustment(proposed, actor=people[1])

    tell(OPENING)

    late = the(PRICE)
    assert (late.label, late.state, late.makes_good) == ("late_refund", "open", missing)
    assert late.candidates == [{"ref_id": order.ref_id, "why": "late_refund"}]
    reconciliation.acknowledge_top_up(late, actor=people[0], note="it has come")
    assert kinds() == [("adjustment", -PRICE), ("adjustment", PRICE)]
    assert ledger.books().balance == OPENING


def test_a_rest_that_another_order_explains_in_the_same_run_cancels_no_missing_refund():
    open_books(OPENING)
    missing, sum_of_both = make_difference(-500, "missing_refund"), make_difference(-10_000)
    first, second = bought("failed"), bought("failed", destination="081234567899")
    rows = differences.as_found([missing, sum_of_both])
    whole = next(found for found, row in rows.items() if row == sum_of_both)
    rest = explaining.Difference(amount=500, from_no=whole.from_no, to_no=whole.to_no, rest_of=whole)

    with transaction.atomic():
        by_first, by_second = (explaining.Explained(whole, first.ref_id), explaining.Explained(rest, second.ref_id))
        differences.record([by_first, explaining.Found(rest), by_second], rows, {})

    missing.refresh_from_db()
    explained = Difference.objects.exclude(pk=missing.pk).order_by("pk")
    assert (missing.state, missing.closed_with) == ("open", None)
    assert [(row.amount, row.explained_by) for row in explained] == [(-10_000, first), (500, second)]
    assert ledger.books().found == -500


def test_money_that_came_before_a_refund_was_missing_is_no_late_refund():
    open_books(OPENING)
    now, before = timezone.now(), [next_number(), next_number()]
    since = next_number()
    bought("failed")
    missed = [since, next_number()]
    both = [explaining.Difference(amount=PRICE, from_no=before[0], to_no=before[1])]
    both.append(explaining.Difference(amount=-PRICE, from_no=missed[0], to_no=missed[1]))

    with transaction.atomic():  # one run judges both readings
        differences.record([explaining.Found(each) for each in both], {}, dict.fromkeys([*before, *missed], now))

    found = Difference.objects.order_by("pk")
    assert [(row.amount, row.label, row.state) for row in found] == [
        (PRICE, "topup", "open"),
        (-PRICE, "missing_refund", "open"),
    ]


def test_a_late_refund_closes_when_the_proposal_is_declined(people: Any):
    _order, missing = missing_refund()
    proposed = reconciliation.propose_adjustment(missing, actor=people[0], reason="it did not come")

    tell(OPENING)

    late = the(PRICE)
    assert (late.label, late.state) == ("late_refund", "open")
    with pytest.raises(DecisionRefused):
        reconciliation.acknowledge_top_up(late, actor=people[0])
    decline(proposed, actor=people[1])
    late, missing = the(PRICE), the(-PRICE)
    assert (late.state, late.closed_with, missing.closed_with) == ("acknowledged", missing, late)
    assert kinds() == []
    assert ledger.books().balance == OPENING


def test_a_late_refund_whose_proposal_is_approved_ends_balanced(people: Any):
    _order, missing = missing_refund()
    proposed = reconciliation.propose_adjustment(missing, actor=people[0], reason="it did not come")
    tell(OPENING)

    reconciliation.approve_adjustment(proposed, actor=people[1])
    reconciliation.acknowledge_top_up(the(PRICE), actor=people[0])

    assert kinds() == [("adjustment", -PRICE), ("adjustment", PRICE)]
    assert reconciliation.reconcile().state == "balanced"


def test_a_refund_that_comes_late_twice_is_a_double_refund():
    order, _missing = missing_refund()
    tell(OPENING)

    tell(OPENING + PRICE)

    twice = Difference.objects.open().get()
    assert twice.label == "double_refund"
    assert {"ref_id": order.ref_id, "why": "double_refund"} in twice.candidates


def test_each_missing_refund_is_made_good_once_open_ones_first(people: Any):
    _order, first = missing_refund()
    reconciliation.approve_adjustment(
        reconciliation.propose_adjustment(first, actor=people[0], reason="x"), actor=people[1]
    )
    with time_machine.travel(ago(minutes=20), tick=True):
        bought("failed")
        tell(OPENING - 2 * PRICE)
    second = Difference.objects.open().get()

    tell(OPENING - PRICE)
    tell(OPENING)

    made_good = Difference.objects.filter(label="late_refund").order_by("pk")
    assert [(late.makes_good, late.state) for late in made_good] == [(second, "acknowledged"), (first, "open")]


def test_a_missing_refund_comes_before_an_announcement(people: Any):
    missing_refund()
    expected = reconciliation.announce_top_up(amount=PRICE, actor=people[0])

    tell(OPENING)

    assert (the(PRICE).label, the(-PRICE).state) == ("late_refund", "acknowledged")
    expected.refresh_from_db()
    assert expected.difference is None


def test_an_announcement_takes_no_refund_that_came_twice(people: Any):
    with time_machine.travel(ago(minutes=30), tick=True):
        open_books(OPENING)
        bought("failed")
        reconciliation.announce_top_up(amount=PRICE, actor=people[0])

    tell(OPENING + PRICE)

    assert (the(PRICE).label, the(PRICE).state) == ("double_refund", "open")
    assert kinds() == []


def test_an_announcement_expires_after_a_week_and_is_withdrawn_or_made_again(people: Any):
    with time_machine.travel(ago(days=7.1), tick=True):
        open_books(OPENING)
        expected = reconciliation.announce_top_up(amount=250_000, actor=people[0])
        assert not expected.is_expired
    with time_machine.travel(ago(days=6.9), tick=True):
        reconciliation.announce_top_up(amount=260_000, actor=people[0])
    tell(OPENING + 250_000)
    tell(OPENING + 250_000 + 260_000)
    assert expected.is_expired
    assert (the(250_000).state, the(260_000).state) == ("open", "acknowledged")

    again = reconciliation.announce_top_up(amount=250_000, actor=people[0])
    reconciliation.cancel_expected_top_up(expected, actor=people[0])

    assert (again.difference, again.is_expired) == (the(250_000), False)
    assert not ExpectedTopUp.objects.get(pk=expected.pk).is_expired


def test_an_order_in_doubt_is_named_up_to_its_own_price():
    open_books(OPENING)
    order = sent()
    never_arrived(order)

    for missing, is_named in ((1, True), (PRICE + 1, False)):
        with undone():
            tell(OPENING - missing)
            difference = Difference.objects.get()
            assert (difference.amount, difference.label) == (-missing, "unexplained_debit")
            assert difference.candidates == ([{"ref_id": order.ref_id, "why": "outcome_unknown"}] if is_named else [])


TOGETHER = {
    "two that fit together": (30_000, [20_000, 10_000], [50_000]),
    "three that would": (80_000, [], []),
    "one that fits alone": (50_000, [], [50_000]),
    "none, but one of a higher price": (25_000, [], [50_000]),
}


def test_where_no_order_fits_two_are_named_that_fit_together():
    open_books(OPENING)
    for price in (10_000, 20_000, 50_000):
        never_arrived(sent(product=make_product(price=price)))
    refs = dict(Order.objects.values_list("max_price", "ref_id"))

    for case, (missing, together, alone) in TOGETHER.items():
        with undone():
            tell(OPENING - missing)

            difference = Difference.objects.get()
            assert [(candidate["ref_id"], candidate["why"]) for candidate in difference.candidates] == [
                *((refs[price], "two_together") for price in together),
                *((refs[price], "outcome_unknown") for price in alone),
            ], case
            assert orders_of_amount([difference])[difference.pk] == ([refs[missing]] if missing in refs else []), case


def test_orders_in_doubt_that_fit_come_first_and_then_the_nearest_prices(monkeypatch: pytest.MonkeyPatch):
    """Many orders have no outcome yet; the one whose price equals the missing amount is the oldest."""
    monkeypatch.setattr(differences, "_MOST_CANDIDATES", 3)
    open_books(OPENING)
    bought("success", product=make_product(price=75_000))
    waiting = {price: sent(product=make_product(price=price)) for price in (75_000, 150_000, 100_000, 200_000, 50_000)}
    for order in waiting.values():
        never_arrived(order)

    tell(OPENING - 75_000 - 75_000)

    assert Difference.objects.get().amount == -75_000
    named = [(candidate["ref_id"], candidate["why"]) for candidate in Difference.objects.get().candidates]
    twice = Order.objects.get(status="success").ref_id
    assert named == [
        (waiting[75_000].ref_id, "outcome_unknown"),
        (twice, "double_debit"),
        (waiting[100_000].ref_id, "outcome_unknown"),
    ]
