"""Verdicts and adjustments wait in the same queue, bound to the proposed content."""

import datetime as dt

import pytest
from django.utils import translation

from approvals.models import Approval
from approvals.presenting import ShownApproval
from approvals.services import expire_overdue
from ledger.models import Entry
from purchases.models import Order, Verdict
from purchases.services import propose_verdict
from reconciliation.models import Difference
from reconciliation.services import propose_adjustment
from testing.orders import SUBMIT, at_once, report, sent, sent_before
from tests.approvals.helpers import approve, approver
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db(transaction=True)


def pending() -> Order:
    return sent_before(report(sent(), "pending", source=SUBMIT), hours=1)


def translated(words) -> str:
    with translation.override("id"):
        return str(words)


def propose(order: Order, actor) -> Verdict:
    return propose_verdict(order, outcome="failed", evidence="mail", reason="asked twice", actor=actor)


def test_given_another_language_then_the_queue_is_in_the_readers(owners):
    difference = make_difference(-10_500, "unexplained_debit")
    with translation.override("en"):
        asked = [
            propose(pending(), owners[0]).approval,
            propose_adjustment(difference, actor=owners[0], reason="a fee").approval,
        ]

    def words(language: str) -> list[str]:
        with translation.override(language):
            return [ShownApproval(approval, owners[1]).about for approval in asked]

    order, outcome = words("id")[0].split(" → ")
    assert order in words("en")[0]
    assert outcome == translated(Verdict.Outcome("failed").label)
    assert translated(Difference.Label("unexplained_debit").label) in words("id")[1]
    assert [words("id")[place] != words("en")[place] for place in (0, 1)] == [True, True]


def test_given_the_order_moved_then_the_verdict_is_void(owners):
    order = pending()
    verdict = propose(order, owners[0])
    report(order, "success")

    decided = approve(verdict.approval, owners[1])

    verdict.refresh_from_db()
    assert (decided.state, decided.changes["order_status"]) == ("void", ["pending", "success"])
    assert (verdict.order.status, verdict.approved_by) == ("success", None)
    assert verdict.decided_at


def test_given_nobody_decided_then_the_verdict_expires_and_can_be_asked_again(owners, time_machine):
    order = pending()
    verdict = propose(order, owners[0])
    time_machine.move_to(verdict.approval.expires_at + dt.timedelta(seconds=1))

    expire_overdue()

    verdict.refresh_from_db()
    assert verdict.decided_at
    assert (verdict.approved_by, verdict.declined_by) == (None, None)
    assert propose(order, owners[1]).approval.is_open


def test_given_two_approvers_at_once_then_one_adjustment_is_posted(owners):
    open_books(100_000)
    proposed = propose_adjustment(make_difference(-500), actor=owners[0], reason="fee")
    people = [owners[1], approver("third"), approver("fourth")]

    at_once(*(lambda who=who: approve(proposed.approval, who) for who in people))

    assert Entry.objects.get(kind="adjustment").balance_change == -500
    assert Difference.objects.get().state == "acknowledged"
    assert Approval.objects.get().state == "approved"
