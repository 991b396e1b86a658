"""However people decide at one moment, an order has one end; and the database refuses every other way to it."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from ledger.models import Entry
from purchases.models import Incident, Order, Verdict
from purchases.services import approve_verdict
from purchases.states import Status
from staff.models import User
from testing.factories import entries_of, make_order, moves
from testing.orders import CALLBACK, SUBMIT, at_once, report, sent, sent_before
from tests.approvals.helpers import decline
from tests.purchases.helpers import propose

pytestmark = pytest.mark.django_db(transaction=True)

PRICE = 10_500
DEBITED = [("hold", PRICE), ("release", PRICE), ("debit", PRICE)]


def test_two_approvals_at_once_execute_once(two):
    order = sent_before(report(sent(), "pending", source=SUBMIT), hours=1)
    verdict = propose(order, "failed", two[0])
    third = User.objects.create_superuser("third")

    results = at_once(*(lambda who=who: approve_verdict(verdict, actor=who) for who in (two[1], third)))

    assert sorted(type(result).__name__ for result in results) == ["ActionRefused", "Order"]
    assert entries_of(order) == [*DEBITED, ("refund", PRICE)]
    assert moves(order)[-1][1:] == ("failed", "staff")


def test_two_proposals_at_once_are_one(two):
    order = report(sent(), source=SUBMIT)

    results = at_once(*(lambda who=who: propose(order, "reversed", who) for who in two))

    assert sorted(type(result).__name__ for result in results) == ["ActionRefused", "Verdict"]
    assert Verdict.objects.count() == 1


def test_a_verdict_and_a_callback_at_once_leave_one_end(two):
    for _ in range(3):
        order = sent_before(report(sent(), "pending", source=SUBMIT), hours=1)
        verdict = propose(order, "failed", two[0])

        at_once(lambda v=verdict: approve_verdict(v, actor=two[1]), lambda o=order: report(o, source=CALLBACK))

        order.refresh_from_db()
        if order.status == Status.SUCCESS:
            assert entries_of(order) == DEBITED
        else:
            assert (order.status, entries_of(order)) == (Status.FAILED, [*DEBITED, ("refund", PRICE)])
            assert order.incidents.get().kind == Incident.Kind.CONTRADICTION


def test_the_database_itself_reverses_no_such_order():
    ended = {"final_at": timezone.now(), "ended_no": 9, "next_poll_at": None}
    for before in (Status.QUEUED, Status.SENDING, Status.FAILED, Status.REJECTED):
        order = make_order(before)
        with pytest.raises(DatabaseError, match=r"[Ii]nvalid transition"), transaction.atomic():
            Order.objects.filter(pk=order.pk).update(status=Status.REVERSED, **ended)


def test_the_database_itself_lets_nobody_approve_alone_and_keeps_what_was_proposed_and_decided(two):
    order = report(sent(), source=SUBMIT)
    verdict = propose(order, "reversed", two[0])
    with pytest.raises(IntegrityError), transaction.atomic():
        Verdict.objects.filter(pk=verdict.pk).update(approved_by=two[0], decided_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Verdict.objects.create(order=order, outcome="reversed", evidence="x", reason="y", proposed_by=two[1])
    with pytest.raises(DatabaseError), transaction.atomic():
        Verdict.objects.filter(pk=verdict.pk).update(evidence="another")
    decline(verdict, actor=two[1])

    for change in (
        lambda: Verdict.objects.filter(pk=verdict.pk).update(decided_at=timezone.now()),
        lambda: Verdict.objects.filter(pk=verdict.pk).delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_the_database_itself_gives_back_once():
    facts = {"amount": 5, "balance_change": 5, "reserved_change": 0, "balance_after": 0, "reserved_after": 0}
    Entry.objects.create(ref_id="B1", order_kind="purchase", kind="refund", **facts)

    with pytest.raises(IntegrityError), transaction.atomic():
        Entry.objects.create(ref_id="B1", order_kind="purchase", kind="reversal", **facts)
