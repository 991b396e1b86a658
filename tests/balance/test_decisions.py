"""What people decide about differences, while reconciliation runs at the same moment."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from balance import services as balance
from balance.errors import NotPossible
from balance.models import Adjustment, Books, Difference, Entry, ExpectedTopUp, Reading, Reconciliation
from balance.services import differences, ledger
from tests.balance.test_ledger import open_with
from tests.races.test_orders import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(django_user_model: Any) -> tuple[Any, Any]:
    create = django_user_model.objects.create_user
    return create("first"), create("second")


def reading(rupiah: int, *, ago: float = 0) -> None:
    at = timezone.now() - dt.timedelta(seconds=ago)
    Reading.objects.create(balance=rupiah, source="balance", sent_at=at, received_at=at)


def difference(amount: int, label: str = "", **facts: Any) -> Difference:
    now = timezone.now()
    label = label or ("topup" if amount > 0 else "unexplained_debit")
    return Difference.objects.create(amount=amount, from_at=now, to_at=now, label=label, **facts)


class Meanwhile:
    """Something done on another connection."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.fault: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=[work])
        self._thread.start()

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as error:  # the test looks at it
            self.fault = error
        finally:
            connections.close_all()

    def is_blocked_by_us(self) -> bool:
        """Whether it comes to wait for a lock of this connection; False when it ends instead."""
        while self._thread.is_alive():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
                )
                if cursor.fetchone() != (0,):
                    return True
            self._thread.join(0.02)
        return False

    def end(self) -> None:
        """Wait for its end; what went wrong is raised here."""
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self.fault:
            raise self.fault


def acknowledging(first: Any, second: Any) -> Callable[[], Any]:
    found = difference(500)
    return lambda: balance.acknowledge_top_up(found, actor=first)


def announcing(first: Any, second: Any) -> Callable[[], Any]:
    difference(500)
    return lambda: balance.announce_top_up(amount=500, actor=first)


def withdrawing(first: Any, second: Any) -> Callable[[], Any]:
    expected = balance.announce_top_up(amount=500, actor=first)
    return lambda: balance.cancel_expected_top_up(expected, actor=second)


def proposing(first: Any, second: Any) -> Callable[[], Any]:
    found = difference(-500)
    return lambda: balance.propose_adjustment(found, actor=first, reason="x")


def approving(first: Any, second: Any) -> Callable[[], Any]:
    proposed = balance.propose_adjustment(difference(-500), actor=first, reason="x")
    return lambda: balance.approve_adjustment(proposed, actor=second)


def declining(first: Any, second: Any) -> Callable[[], Any]:
    proposed = balance.propose_adjustment(difference(-500), actor=first, reason="x")
    return lambda: balance.decline_adjustment(proposed, actor=second)


DECISIONS = [acknowledging, announcing, withdrawing, proposing, approving, declining]


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_waits_for_a_run_before_it_locks_anything(decision: Any, people: Any):
    open_with(1_000_000)
    decide = decision(*people)

    with transaction.atomic():
        Reconciliation.objects.select_for_update().get()
        meanwhile = Meanwhile(decide)
        assert meanwhile.is_blocked_by_us()
        for model in (Difference, Books, ExpectedTopUp, Adjustment):
            list(model.objects.select_for_update(nowait=True))
    meanwhile.end()


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_before_the_first_run_is_possible(decision: Any, people: Any):
    decide = decision(*people)
    Reconciliation.objects.all().delete()

    decide()

    assert Reconciliation.objects.get().state is None


def test_a_late_refund_and_an_approval_at_once_do_not_deadlock(people: Any, monkeypatch: Any):
    reading(1_000_000, ago=60)
    balance.reconcile()
    missing = difference(-10_500, "missing_refund")
    proposed = balance.propose_adjustment(missing, actor=people[0], reason="x")
    balance.announce_top_up(amount=250_000, actor=people[0])
    reading(1_250_000, ago=40)
    reading(1_260_500, ago=20)
    books_are_locked, difference_is_locked = threading.Event(), threading.Event()

    def post_top_up(**facts: Any) -> Entry:
        entry = ledger.post_top_up(**facts)
        books_are_locked.set()
        difference_is_locked.wait(1)
        return entry

    def undecided(adjustment: Adjustment, real: Any = differences._undecided) -> Adjustment:
        difference_is_locked.set()
        books_are_locked.wait(1)
        found: Adjustment = real(adjustment)
        return found

    monkeypatch.setattr(differences, "post_top_up", post_top_up)
    monkeypatch.setattr(differences, "_undecided", undecided)

    results = at_once(balance.reconcile, lambda: balance.approve_adjustment(proposed, actor=people[1]))

    assert [result for result in results if isinstance(result, Exception)] == []
    assert balance.books().balance + balance.open_differences_total() == 1_260_500 - 10_500


def test_a_top_up_announced_at_the_moment_it_is_found_is_matched(people: Any):
    open_with(1_000_000)
    reading(1_250_000)

    with transaction.atomic():
        balance.reconcile()  # has found it and looked for announcements; not committed yet
        meanwhile = Meanwhile(lambda: balance.announce_top_up(amount=250_000, actor=people[0]))
        meanwhile.is_blocked_by_us()
    meanwhile.end()

    assert ExpectedTopUp.objects.get().difference == Difference.objects.get()
    assert Difference.objects.get().state == "acknowledged"


def test_of_an_approval_and_a_withdrawal_at_once_one_wins(people: Any):
    proposed = balance.propose_adjustment(difference(-500), actor=people[0], reason="x")

    results = at_once(
        lambda: balance.approve_adjustment(proposed, actor=people[1]),
        lambda: balance.decline_adjustment(proposed, actor=people[0]),
    )

    assert sum(isinstance(result, NotPossible) for result in results) == 1
    approved = Entry.objects.filter(kind="adjustment").count()
    assert Difference.objects.open().count() == 1 - approved


def test_who_withdrew_an_announcement_is_kept(people: Any):
    expected = balance.announce_top_up(amount=500, actor=people[0])

    balance.cancel_expected_top_up(expected, actor=people[1])

    expected.refresh_from_db()
    assert expected.cancelled_at is not None
    assert expected.cancelled_by == people[1]


CHANGES: dict[str, Callable[[Difference], Any]] = {
    "amount": lambda found: Difference.objects.filter(pk=found.pk).update(amount=-2),
    "from": lambda found: Difference.objects.filter(pk=found.pk).update(from_at=found.from_at - dt.timedelta(1)),
    "to": lambda found: Difference.objects.filter(pk=found.pk).update(to_at=found.to_at + dt.timedelta(1)),
    "found": lambda found: Difference.objects.filter(pk=found.pk).update(found_at=found.to_at + dt.timedelta(1)),
    "deleted": lambda found: Difference.objects.filter(pk=found.pk).delete(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_found_is_never_changed_or_deleted(change: Callable[[Difference], Any]):
    found = difference(-500)

    with pytest.raises(DatabaseError), transaction.atomic():
        change(found)


def test_what_was_acknowledged_stays_so(people: Any):
    found = balance.acknowledge_top_up(difference(500), actor=people[0])

    with pytest.raises(DatabaseError), transaction.atomic():
        Difference.objects.filter(pk=found.pk).update(state="open", acknowledged_at=None, entry=None)


@pytest.mark.parametrize("change", ["reason", "proposed_by", "difference", "deleted"])
def test_what_was_proposed_is_never_changed_or_deleted(change: str, people: Any):
    proposed = balance.propose_adjustment(difference(-500), actor=people[0], reason="x")
    rows = Adjustment.objects.filter(pk=proposed.pk)
    others = {"reason": "y", "proposed_by": people[1], "difference": difference(-700)}

    with pytest.raises(DatabaseError), transaction.atomic():
        rows.delete() if change == "deleted" else rows.update(**{change: others[change]})


def test_what_was_decided_stays_so(people: Any):
    proposed = balance.propose_adjustment(difference(-500), actor=people[0], reason="x")
    balance.decline_adjustment(proposed, actor=people[1])

    with pytest.raises(DatabaseError), transaction.atomic():
        Adjustment.objects.filter(pk=proposed.pk).update(declined_by=None, decided_at=None)
