"""A late decision about an order explains the difference that the order caused, and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from ledger import services as ledger
from ledger.models import Books, Entry
from purchases.models import Order
from purchases.services import Decision, apply_verdict, approve_verdict, lock_order_for_move, propose_verdict
from purchases.services.polling import _count_not_found
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference
from testing.database import undone
from testing.orders import CALLBACK, STAFF, SUBMIT, Meanwhile, never_arrived, report, sent
from tests.approvals.helpers import approve, decline
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import asked, bought, make_difference, tell

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 1_000_000, 10_500


@pytest.fixture
def lost() -> Order:
    """An order that seems never to have arrived, and was charged, so that a difference was found."""
    open_books(OPENED)
    order = sent()
    never_arrived(order)
    assert tell(OPENED - PRICE).state == "unexplained"
    return order


def decide(order: Order, outcome: str, people: tuple[Any, Any]) -> Order:
    verdict = propose_verdict(order, outcome=outcome, evidence="their dashboard", reason="x", actor=people[0])
    return approve_verdict(verdict, actor=people[1])


def test_a_lost_order_is_named_and_reported_at_last_it_closes_its_difference(lost: Order):
    difference = Difference.objects.get()
    assert (difference.amount, difference.label) == (-PRICE, "unexplained_debit")
    assert difference.candidates == [{"ref_id": lost.ref_id, "why": "outcome_unknown"}]

    report(lost, "success")
    run = tell(OPENED - PRICE)

    difference.refresh_from_db()
    assert (difference.state, difference.explained_by, difference.entry) == ("acknowledged", lost, None)
    assert (run.state, run.difference) == ("balanced", 0)
    assert (ledger.books().balance, ledger.books().found) == (OPENED - PRICE, 0)


def test_decided_by_two_people_it_closes_its_difference(lost: Order, people: Any):
    decide(lost, "success", people)

    assert tell(OPENED - PRICE).state == "balanced"
    assert Difference.objects.get().explained_by == lost


def test_a_run_waits_for_a_moving_order_before_it_takes_the_books(lost: Order):
    report(lost, "success")
    read_balance(OPENED - PRICE)

    with transaction.atomic():
        lock_order_for_move(lost.pk)
        run = Meanwhile(reconciliation.reconcile)
        assert run.is_blocked_by_us()
        list(Books.objects.select_for_update(nowait=True))
    run.end()

    assert Difference.objects.get().explained_by == lost
    assert (ledger.books().balance, ledger.books().found) == (OPENED - PRICE, 0)


def test_what_somebody_else_took_with_it_stays_as_a_rest():
    open_books(OPENED)
    order = sent()
    never_arrived(order)
    tell(OPENED - PRICE - 700)

    report(order, "success")
    run = tell(OPENED - PRICE - 700)

    whole, rest = Difference.objects.order_by("pk")
    assert (whole.amount, whole.explained_by) == (-PRICE - 700, order)
    assert (rest.amount, rest.state, rest.rest_of) == (-700, "open", whole)
    assert (rest.from_no, rest.to_no, rest.from_at, rest.to_at) == (
        whole.from_no,
        whole.to_no,
        whole.from_at,
        whole.to_at,
    )
    assert (run.state, run.difference, ledger.books().found) == ("unexplained", -700, -700)


ENDS: dict[str, Callable[[Adjustment, Any], Any]] = {
    "withdrawn": lambda proposed, people: decline(proposed, actor=people[0]),
    "refused": lambda proposed, people: decline(proposed, actor=people[1]),
    "void": lambda proposed, people: approve(proposed.approval, people[1]),
}


def test_a_proposal_for_what_is_explained_is_refused_and_ends_with_its_approval(lost: Order, people: Any):
    proposed = reconciliation.propose_adjustment(Difference.objects.get(), actor=people[0], reason="x")
    report(lost, "success")
    tell(OPENED - PRICE)
    with pytest.raises(DecisionRefused):
        reconciliation.approve_adjustment(proposed, actor=people[1])

    for end, act in ENDS.items():
        with undone():
            act(proposed, people)

            proposed.refresh_from_db()
            assert proposed.decided_at is not None, end
            decliner = people[0] if end == "withdrawn" else people[1]
            assert (proposed.approved_by, proposed.declined_by) == (None, decliner), end
            assert Difference.objects.get().explained_by == lost
            assert not Entry.objects.filter(kind="adjustment").exists(), end


def test_adjusted_before_it_was_decided_the_opposite_is_posted(lost: Order, people: Any):
    proposed = reconciliation.propose_adjustment(Difference.objects.get(), actor=people[0], reason="x")
    reconciliation.approve_adjustment(proposed, actor=people[1])
    report(lost, "success")

    assert tell(OPENED - PRICE).state == "unexplained"
    difference = Difference.objects.open().get()
    assert (difference.amount, difference.label, difference.makes_good) == (
        PRICE,
        "adjusted_before",
        proposed.difference,
    )
    reconciliation.acknowledge_top_up(difference, actor=people[0])

    assert tell(OPENED - PRICE).state == "balanced"
    assert ledger.books().balance == OPENED - PRICE


def test_a_refund_of_a_successful_order_is_no_top_up_and_explained_once_it_is_reversed(people: Any):
    open_books(OPENED)
    order = bought()
    tell(OPENED - PRICE)

    run = tell(OPENED)

    difference = Difference.objects.get()
    assert (difference.amount, difference.label, run.state) == (PRICE, "unreported_refund", "unexplained")
    assert difference.candidates == [{"ref_id": order.ref_id, "why": "refund_without_failure"}]
    decide(order, "reversed", people)
    assert tell(OPENED).state == "balanced"
    assert Difference.objects.get().explained_by == order
    assert (ledger.books().balance, ledger.books().found) == (OPENED, 0)


def test_a_failed_forgotten_order_has_its_refund_explained():
    open_books(OPENED)
    order = sent()
    report(order, "pending", source=SUBMIT)
    order.refresh_from_db()
    asked(order)
    _count_not_found(order)
    tell(OPENED - PRICE)
    tell(OPENED)
    difference = Difference.objects.get()
    assert (difference.label, difference.candidates) == (
        "unreported_refund",
        [{"ref_id": order.ref_id, "why": "refund_unreported"}],
    )

    report(order, "failed")

    assert tell(OPENED).state == "balanced"
    assert Difference.objects.get().explained_by == order


def test_an_announced_amount_is_a_top_up_whatever_orders_cost(people: Any):
    open_books(OPENED)
    bought()
    tell(OPENED - PRICE)
    reconciliation.announce_top_up(amount=PRICE, actor=people[0])

    assert tell(OPENED).state == "balanced"
    assert Entry.objects.get(kind="topup").amount == PRICE


def test_announced_once_it_is_there_it_is_a_top_up_and_the_next_is_not(people: Any):
    open_books(OPENED)
    bought()
    tell(OPENED - PRICE)
    assert tell(OPENED).state == "unexplained"  # it may be a refund of that order

    announced = reconciliation.announce_top_up(amount=PRICE, actor=people[0])

    assert (announced.difference, tell(OPENED).state) == (Difference.objects.get(), "balanced")
    bought()
    tell(OPENED - PRICE)
    assert tell(OPENED).state == "unexplained"  # no open announcement could hide it
    assert list(Difference.objects.order_by("pk").values_list("state", flat=True)) == ["acknowledged", "open"]
    assert [entry.amount for entry in Entry.objects.filter(kind="topup")] == [PRICE]


def test_a_plain_top_up_comes_before_what_may_be_a_refund(people: Any):
    open_books(OPENED)
    bought()
    tell(OPENED - PRICE)
    tell(OPENED)
    refund = Difference.objects.get()
    plain = make_difference(PRICE)

    announced = reconciliation.announce_top_up(amount=PRICE, actor=people[0])

    assert announced.difference == plain
    assert Difference.objects.get(pk=refund.pk).state == "open"


@pytest.mark.parametrize("end", ["closed", "failed"])
def test_ended_by_people_and_charged_it_is_named_and_no_flaw(end: str, people: Any):
    open_books(OPENED)
    order = never_arrived(sent())
    if end == "closed":
        apply_verdict(order.pk, Decision(status=Status.CLOSED, source=STAFF))
    else:
        decide(order, "failed", people)

    after = report(order, "success", source=CALLBACK)
    tell(OPENED - PRICE)

    assert (after.status, after.incidents.get().kind) == (end, "contradiction")
    assert reconciliation.prove(everything=True).flaw == ""
    difference = Difference.objects.get()
    assert (difference.amount, difference.candidates) == (
        -PRICE,
        [{"ref_id": order.ref_id, "why": "charged_after_all"}],
    )


def test_failed_by_people_and_then_by_the_upstream_is_no_flaw(people: Any):
    open_books(OPENED)
    order = decide(never_arrived(sent()), "failed", people)

    report(order, "failed", source=CALLBACK)

    assert reconciliation.prove(everything=True).flaw == ""
    assert tell(OPENED).state == "balanced"
