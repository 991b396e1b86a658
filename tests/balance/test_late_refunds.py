"""Which orders and announcements a difference is attributed to: refunds that come late, top-ups, open outcomes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from balance import services as balance
from balance.errors import NotPossible
from balance.models import Difference, Entry, ExpectedTopUp, Reading
from purchases.models import Order, OrderEvent
from purchases.order_life import HoldReason, Status
from purchases.services import Outcome, apply_outcome
from purchases.services.sending import claim
from tests.balance.test_ledger import answer, open_with, place, report

pytestmark = pytest.mark.django_db(transaction=True)

OPENING, PRICE = 1_000_000, 10_500


@pytest.fixture
def people(django_user_model: Any) -> tuple[Any, Any]:
    create = django_user_model.objects.create_user
    return create("first"), create("second")


def ago(**time: float) -> dt.datetime:
    return timezone.now() - dt.timedelta(**time)


def tell(rupiah: int) -> None:
    """The upstream tells this balance, and it is compared."""
    now = timezone.now()
    Reading.objects.create(balance=rupiah, source="balance", sent_at=now, received_at=now)
    balance.reconcile()


def failed_order() -> Order:
    order = place()
    claim(order.pk)
    return report(order, "failed")


def missing_refund() -> tuple[Order, Difference]:
    """Half an hour ago an order failed, and the balance read after that lacks its refund."""
    with time_machine.travel(ago(minutes=30), tick=True):
        open_with(OPENING)
        order = failed_order()
        tell(OPENING - PRICE)
    found = Difference.objects.get()
    assert found.label == "missing_refund"
    return order, found


def the(amount: int) -> Difference:
    return Difference.objects.get(amount=amount)


def kinds() -> list[tuple[str, int]]:
    """The account's own entries: (kind, change)."""
    rows = Entry.objects.filter(ref_id="").exclude(kind="opening")
    return list(rows.order_by("pk").values_list("kind", "balance_change"))


def test_a_late_refund_after_an_approved_adjustment_is_acknowledged_as_its_opposite(people: Any):
    order, missing = missing_refund()
    proposed = balance.propose_adjustment(missing, actor=people[0], reason="it did not come")
    balance.approve_adjustment(proposed, actor=people[1])

    tell(OPENING)

    late = the(PRICE)
    assert (late.label, late.state, late.makes_good) == ("late_refund", "open", missing)
    assert late.candidates == [{"ref_id": order.ref_id, "why": "late_refund"}]
    balance.acknowledge_top_up(late, actor=people[0], note="it has come")
    assert kinds() == [("adjustment", -PRICE), ("adjustment", PRICE)]
    assert balance.books().balance == OPENING


def test_a_late_refund_during_a_proposal_closes_with_the_missing_one_when_that_is_declined(people: Any):
    _order, missing = missing_refund()
    proposed = balance.propose_adjustment(missing, actor=people[0], reason="it did not come")

    tell(OPENING)

    late = the(PRICE)
    assert (late.label, late.state) == ("late_refund", "open")
    with pytest.raises(NotPossible):
        balance.acknowledge_top_up(late, actor=people[0])
    assert balance.decline_adjustment(proposed, actor=people[1]).state == "acknowledged"
    late, missing = the(PRICE), the(-PRICE)
    assert (late.state, late.closed_with, missing.closed_with) == ("acknowledged", missing, late)
    assert kinds() == []
    assert balance.books().balance == OPENING


def test_a_late_refund_during_a_proposal_that_is_approved_all_the_same_ends_balanced(people: Any):
    _order, missing = missing_refund()
    proposed = balance.propose_adjustment(missing, actor=people[0], reason="it did not come")
    tell(OPENING)

    balance.approve_adjustment(proposed, actor=people[1])
    balance.acknowledge_top_up(the(PRICE), actor=people[0])

    assert kinds() == [("adjustment", -PRICE), ("adjustment", PRICE)]
    assert balance.reconcile().state == "balanced"


def test_a_refund_that_comes_late_and_then_again_is_a_double_refund():
    order, _missing = missing_refund()
    tell(OPENING)

    tell(OPENING + PRICE)

    twice = Difference.objects.open().get()
    assert twice.label == "double_refund"
    assert {"ref_id": order.ref_id, "why": "double_refund"} in twice.candidates


def test_each_missing_refund_is_made_good_once_the_open_ones_first(people: Any):
    _order, first = missing_refund()
    balance.approve_adjustment(balance.propose_adjustment(first, actor=people[0], reason="x"), actor=people[1])
    with time_machine.travel(ago(minutes=20), tick=True):
        failed_order()
        tell(OPENING - 2 * PRICE)
    second = Difference.objects.open().get()

    tell(OPENING - PRICE)
    tell(OPENING)

    made_good = Difference.objects.filter(label="late_refund").order_by("pk")
    assert [(late.makes_good, late.state) for late in made_good] == [(second, "acknowledged"), (first, "open")]


def test_a_missing_refund_comes_before_an_announcement_of_the_same_amount(people: Any):
    missing_refund()
    expected = balance.announce_top_up(amount=PRICE, actor=people[0])

    tell(OPENING)

    assert (the(PRICE).label, the(-PRICE).state) == ("late_refund", "acknowledged")
    expected.refresh_from_db()
    assert expected.difference is None


def test_an_announcement_takes_no_refund_that_came_twice(people: Any):
    with time_machine.travel(ago(minutes=30), tick=True):
        open_with(OPENING)
        failed_order()
        balance.announce_top_up(amount=PRICE, actor=people[0])

    tell(OPENING + PRICE)

    assert (the(PRICE).label, the(PRICE).state) == ("double_refund", "open")
    assert kinds() == []


@pytest.mark.parametrize(("days", "state"), [(6.9, "acknowledged"), (7.1, "open")])
def test_an_announcement_lapses_after_a_week(people: Any, days: float, state: str):
    with time_machine.travel(ago(days=days), tick=True):
        open_with(OPENING)
        balance.announce_top_up(amount=250_000, actor=people[0])

    tell(OPENING + 250_000)

    assert the(250_000).state == state


def test_a_lapsed_announcement_is_withdrawn_or_made_anew(people: Any):
    with time_machine.travel(ago(days=8), tick=True):
        open_with(OPENING)
        expected = balance.announce_top_up(amount=250_000, actor=people[0])
        assert not expected.is_lapsed
    tell(OPENING + 250_000)
    assert expected.is_lapsed

    anew = balance.announce_top_up(amount=250_000, actor=people[0])
    balance.cancel_expected_top_up(expected, actor=people[0])

    assert (anew.difference, anew.is_lapsed) == (the(250_000), False)
    assert not ExpectedTopUp.objects.get(pk=expected.pk).is_lapsed


@pytest.mark.parametrize(("missing", "is_named"), [(10_000, True), (1, True), (PRICE + 1, False)])
def test_an_order_whose_outcome_is_open_is_named_for_every_amount_up_to_its_own(missing: int, is_named: bool):
    with time_machine.travel(ago(hours=2), tick=True):
        open_with(OPENING)
        order = place()
        claim(order.pk)
        answer(order, Status.UNKNOWN)
    with time_machine.travel(ago(hours=1), tick=True):
        parked = Outcome(status=Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)
        apply_outcome(order.pk, parked, source=OrderEvent.Source.POLL, attempt=1)

    tell(OPENING - missing)

    found = Difference.objects.get()
    assert (found.amount, found.label) == (-missing, "unexplained_debit")
    assert found.candidates == ([{"ref_id": order.ref_id, "why": "outcome_unknown"}] if is_named else [])
