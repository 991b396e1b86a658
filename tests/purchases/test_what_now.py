"""The next step for an order whose outcome is not known, for each kind of order, time and reader."""

import datetime as dt

import pytest
from django.utils import timezone, translation

from core.times import short_time
from purchases.models import Order
from purchases.services import propose_verdict
from purchases.services.actions import Action
from purchases.states import ActionReason, Status
from purchases.what_now import what_now
from testing.factories import make_order
from testing.people import make_person

pytestmark = pytest.mark.django_db


def sent(minutes: int, status: Status = Status.UNKNOWN, **facts) -> Order:
    """An order that was placed and sent so many minutes ago."""
    at = timezone.now() - dt.timedelta(minutes=minutes)
    return make_order(status, sent_at=at, created_at=at, **facts)


@pytest.fixture
def leader():
    return make_person("supervisor")


def propose(order, leader, outcome):
    propose_verdict(order, outcome=outcome, evidence="their answer", reason="too long", actor=leader)


def test_only_the_colleague_who_approves_a_decision_does_not_wait_and_for_a_void_one_nobody(leader):
    order, ended = sent(90), sent(90, Status.SUCCESS)
    propose(order, leader, Status.FAILED)
    propose(ended, leader, Status.REVERSED)

    assert what_now(ended, (), leader) is None
    assert what_now(order, (), leader).waits
    assert not what_now(order, {Action.APPROVE_VERDICT}, leader).waits
    order.status = Status.PENDING  # since the proposal
    assert not what_now(order, {Action.PROPOSE_VERDICT}, leader).waits


def test_the_hour_of_a_decision_is_the_latest_one_and_a_bill_is_not_to_be_paid_again(leader):
    order, bill = sent(20), sent(20, kind=Order.Kind.BILL)
    seller = make_person("cashier")

    for language, latest in (("en", "at the latest"), ("id", "paling lambat")):
        with translation.override(language):
            said = [what_now(order, (), person).then for person in (leader, seller)]
        assert [latest in words for words in said] == [True, True], said
    assert what_now(order, (), leader).act != what_now(bill, (), leader).act


def test_what_never_arrived_is_due_and_then_overdue(leader):
    facts = {"status": Status.NEEDS_ACTION, "action_reason": ActionReason.NEVER_ARRIVED}
    acts = [
        what_now(order, {Action.CLOSE}, leader).act.replace(short_time(order.sent_at + dt.timedelta(minutes=30)), "")
        for order in (sent(29, **facts), sent(31, **facts))
    ]

    assert acts[0] != acts[1]


def test_a_bill_that_never_arrived_has_steps_of_its_own(leader):
    bill = sent(20, Status.NEEDS_ACTION, kind=Order.Kind.BILL, action_reason=ActionReason.NEVER_ARRIVED)

    assert what_now(bill, {Action.CLOSE}, leader) is None
