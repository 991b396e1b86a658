"""People's decisions about differences, while reconciliation runs at the same moment."""

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from approvals.errors import ApprovalRefused
from ledger import services as ledger
from ledger.models import Books, Entry
from reconciliation import services as reconciliation
from reconciliation.models import Adjustment, Difference, ExpectedTopUp, Reconciliation
from reconciliation.services import decisions, differences
from testing.database import past_triggers
from testing.orders import Meanwhile, at_once
from tests.approvals.helpers import approve, decline
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db(transaction=True)


def acknowledging(first: Any, second: Any) -> Callable[[], Any]:
    difference = make_difference(500)
    return lambda: reconciliation.acknowledge_top_up(difference, actor=first)


def announcing(first: Any, second: Any) -> Callable[[], Any]:
    make_difference(500)
    return lambda: reconciliation.announce_top_up(amount=500, actor=first)


def withdrawing(first: Any, second: Any) -> Callable[[], Any]:
    expected = reconciliation.announce_top_up(amount=500, actor=first)
    return lambda: reconciliation.cancel_expected_top_up(expected, actor=second)


def proposing(first: Any, second: Any) -> Callable[[], Any]:
    difference = make_difference(-500)
    return lambda: reconciliation.propose_adjustment(difference, actor=first, reason="x")


def approving(first: Any, second: Any) -> Callable[[], Any]:
    proposed = reconciliation.propose_adjustment(make_difference(-500), actor=first, reason="x")
    return lambda: reconciliation.approve_adjustment(proposed, actor=second)


def declining(first: Any, second: Any) -> Callable[[], Any]:
    proposed = reconciliation.propose_adjustment(make_difference(-500), actor=first, reason="x")
    return lambda: decline(proposed, actor=second)


DECISIONS = [acknowledging, announcing, withdrawing, proposing, approving, declining]


def test_a_decision_waits_for_a_run_before_it_locks_anything(people: Any):
    open_books(1_000_000)
    for decision in DECISIONS:
        decide = decision(*people)
        with transaction.atomic():
            Reconciliation.objects.select_for_update().get()
            meanwhile = Meanwhile(decide)
            assert meanwhile.is_blocked_by_us(), decision
            for model in (Difference, Books, ExpectedTopUp, Adjustment):
                list(model.objects.select_for_update(nowait=True))
        meanwhile.end()


def test_a_decision_before_the_first_run_is_possible(people: Any):
    for decision in DECISIONS:
        decide = decision(*people)
        with past_triggers():
            Reconciliation.objects.all().delete()

        decide()

        assert Reconciliation.objects.get().quiet is None, decision


def test_a_late_refund_and_an_approval_at_once_do_not_deadlock(people: Any, monkeypatch: Any):
    open_books(1_000_000)
    missing = make_difference(-10_500, "missing_refund")
    proposed = reconciliation.propose_adjustment(missing, actor=people[0], reason="x")
    reconciliation.announce_top_up(amount=250_000, actor=people[0])
    read_balance(1_250_000)
    read_balance(1_260_500)
    books_are_locked, difference_is_locked = threading.Event(), threading.Event()

    def announced_first(real: Any = ledger.post_top_up, **facts: Any) -> Entry:
        entry: Entry = real(**facts)
        books_are_locked.set()
        difference_is_locked.wait(1)
        return entry

    def undecided(adjustment: Adjustment, real: Any = decisions._undecided) -> Adjustment:
        difference_is_locked.set()
        books_are_locked.wait(1)
        adjustment_row: Adjustment = real(adjustment)
        return adjustment_row

    monkeypatch.setattr(differences.ledger, "post_top_up", announced_first)
    monkeypatch.setattr(decisions, "_undecided", undecided)

    results = at_once(reconciliation.reconcile, lambda: reconciliation.approve_adjustment(proposed, actor=people[1]))

    assert [result for result in results if isinstance(result, Exception)] == []
    assert ledger.books().balance + ledger.books().found == 1_260_500 - 10_500


def test_a_top_up_announced_at_the_moment_it_is_found_is_matched(people: Any):
    open_books(1_000_000)
    read_balance(1_250_000)

    with transaction.atomic():
        reconciliation.reconcile()  # it has found the difference and looked for announcements, and is not committed yet
        meanwhile = Meanwhile(lambda: reconciliation.announce_top_up(amount=250_000, actor=people[0]))
        meanwhile.is_blocked_by_us()
    meanwhile.end()

    assert ExpectedTopUp.objects.get().difference == Difference.objects.get()
    assert Difference.objects.get().state == "acknowledged"


def test_a_form_sent_twice_at_once_announces_one_top_up(people: Any):
    results = at_once(*[lambda: reconciliation.announce_top_up(amount=250_000, actor=people[0], seen=0)] * 2)

    assert set(results) == {ExpectedTopUp.objects.get()}


def test_the_books_are_free_while_a_run_looks_for_causes(people: Any, monkeypatch: Any):
    open_books(1_000_000)
    announced = reconciliation.announce_top_up(amount=250_000, actor=people[0])
    read_balance(1_250_000)
    read_balance(1_249_300)
    locked: list[Any] = []

    def lock_books() -> list[Books]:
        with transaction.atomic():
            return list(Books.objects.select_for_update(nowait=True))

    def looking(difference: Difference, real: Any = differences._candidates) -> Any:
        locked.extend(at_once(lock_books))
        return real(difference)

    monkeypatch.setattr(differences, "_candidates", looking)

    reconciliation.reconcile()

    assert [isinstance(answer, Exception) for answer in locked] == [False, False]
    top_up, missing = Difference.objects.order_by("pk")
    announced.refresh_from_db()
    assert (announced.difference, top_up.state, missing.state) == (top_up, "acknowledged", "open")
    assert list(Entry.objects.filter(kind="topup").values_list("balance_change", flat=True)) == [250_000]
    assert (ledger.books().balance, ledger.books().found) == (1_250_000, -700)


def test_of_an_approval_and_a_withdrawal_at_once_one_wins(people: Any):
    proposed = reconciliation.propose_adjustment(make_difference(-500), actor=people[0], reason="x")

    results = at_once(
        lambda: approve(proposed.approval, people[1]),
        lambda: decline(proposed, actor=people[0]),
    )

    assert sum(isinstance(result, ApprovalRefused) for result in results) == 1
    approved = Entry.objects.filter(kind="adjustment").count()
    assert Difference.objects.open().count() == 1 - approved


def test_what_was_found_proposed_or_decided_is_never_changed_or_deleted(people: Any):
    difference, day = make_difference(-500), dt.timedelta(1)
    proposed = reconciliation.propose_adjustment(difference, actor=people[0], reason="x")
    rows, found = Adjustment.objects.filter(pk=proposed.pk), Difference.objects.filter(pk=difference.pk)
    changes: list[tuple[Any, dict[str, Any]]] = [
        (found, {"amount": -2}),
        (found, {"from_at": difference.from_at - day}),
        (found, {"to_at": difference.to_at + day}),
        (found, {"found_at": difference.to_at + day}),
        (rows, {"reason": "y"}),
        (rows, {"proposed_by": people[1]}),
        (rows, {"difference": make_difference(-700)}),
    ]
    for changed, facts in changes:
        with pytest.raises(DatabaseError), transaction.atomic():
            changed.update(**facts)
    for deleted in (rows, Difference.objects.filter(pk=make_difference(-5).pk)):
        with pytest.raises(DatabaseError), transaction.atomic():
            deleted.delete()

    decline(proposed, actor=people[1])
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.update(declined_by=None, decided_at=None)
    acknowledged = reconciliation.acknowledge_top_up(make_difference(500), actor=people[0])
    with pytest.raises(DatabaseError), transaction.atomic():
        Difference.objects.filter(pk=acknowledged.pk).update(state="open", acknowledged_at=None, entry=None)
