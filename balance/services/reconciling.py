"""Compare the books with the upstream's balance. docs/reconciliation.md explains the method with an example."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, F, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from balance import engine
from balance.models import Books, Difference, Reading, Reconciliation, ReconciliationRun, Spending
from balance.services.differences import record_difference, take_turn
from balance.services.ledger import available, books, open_books, open_differences_total
from balance.services.numbers import one_moment
from balance.services.present import bring_back

State = ReconciliationRun.State
Trigger = ReconciliationRun.Trigger

# One transaction takes no more readings than this, so that it never lasts; a run makes as many as it has time for.
_MOST_READINGS = 300
_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Position:
    """How the account stands, in rupiah; None where it is not known yet.

    `reported`: the newest balance that the upstream told. `expected`: what our books say it should have been then.
    `difference`: reported − expected. `available`: what a new order may spend. `moved_at`: by then something outside
    our orders had certainly moved the balance, by an amount that is still open. `off_by`: see `books_off_by`.
    """

    reported: int | None
    reported_at: dt.datetime | None
    expected: int | None
    available: int | None
    held: int
    difference: int | None
    state: str
    blocking: list[str]
    moved_at: dt.datetime | None
    off_by: int

    def as_json(self) -> dict[str, object]:
        """As the command prints it."""
        return {
            "reported": self.reported,
            "reported_at": self.reported_at.isoformat() if self.reported_at else None,
            "expected": self.expected,
            "available": self.available,
            "held": self.held,
            "difference": self.difference,
            "state": self.state,
        }


def reconcile(trigger: str = Trigger.BEAT) -> ReconciliationRun:
    """Evaluate every reading that can be evaluated for good, store what was found, and return the run.

    Safe at any time, by anyone, at once: runs wait for one another, and each goes on where the last one ended. A run
    that finds everything as the last one left it is counted on that one.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with transaction.atomic():
            seen = _go_on()
            if not seen.has_more or time.monotonic() > until:
                return _store(trigger, seen)


def _go_on() -> _Seen:
    """Evaluate the next readings, and store what was found."""
    row = take_turn()
    now = timezone.now()
    if row.state is None:
        _open(row)
    else:
        row.state = bring_back(engine.State.from_json(row.state), now).to_json()
    seen = _look(row, now)
    if seen.progress:
        row.state, row.compared_at = seen.progress.state.to_json(), seen.progress.state.compared_upto
        row.save(update_fields=["state", "compared_at"])
        Spending.objects.filter(ref_id__in=seen.progress.settled).update(settled_at=timezone.now())
        for found in seen.progress.differences:
            record_difference(found)
    return seen


def position() -> Position:
    """How the account stands now: as `reconcile` would find it, storing nothing."""
    with one_moment():
        row = Reconciliation.objects.filter(only=True).first() or Reconciliation()
        seen = _look(row, timezone.now())
        current = books()
        found_now = [found.amount for found in seen.progress.differences] if seen.progress else []
        difference = seen.difference(found_now)
        return Position(
            reported=seen.reported,
            reported_at=seen.newest.received_at if seen.newest else None,
            expected=seen.expected(difference),
            available=available(current),
            held=current.held,
            difference=difference,
            state=_state(seen, found_now),
            blocking=seen.blocking,
            moved_at=seen.progress.state.changed_at if seen.progress else None,
            off_by=seen.off_by,
        )


def books_off_by() -> int:
    """Rupiah by which the books' balance differs from what the orders and differences add up to: always 0.

    Unless somebody has changed rows behind the software's back. The two are kept in the same transactions, and
    reconciliation compares the upstream with the second one; so a comparison of the books needs both.
    """
    with one_moment():
        row = Reconciliation.objects.filter(only=True).first()
        return _off_by(engine.State.from_json(row.state)) if row and row.state else 0


def _off_by(state: engine.State) -> int:
    known = Case(
        When(charged=True, refunded=True, then=Value(0)), When(charged=True, then=-F("amount")), default=Value(0)
    )
    moved = Spending.objects.filter(settled_at__isnull=True).values("settled_at").annotate(sum=Sum(known)).values("sum")
    found = Difference.objects.open().values("state").annotate(sum=Sum("amount")).values("sum")
    # In one query, so that no order's move comes in between.
    current = Books.objects.filter(only=True).annotate(
        moved=Coalesce(Subquery(moved), 0), found=Coalesce(Subquery(found), 0)
    )
    expected = state.base + state.exact
    return sum(row.balance + row.found - row.moved - expected for row in current)


def latest_run() -> ReconciliationRun | None:
    """The newest run, or None before the first."""
    return ReconciliationRun.objects.first()


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What a look at the newest reading tells.

    `beyond`: rupiah by which it differs from everything found so far; None: it cannot be said. `off_by`: see
    `books_off_by`. `blocking`: orders that keep it from being evaluated for good. `has_more`: there are readings left
    that can be evaluated.
    """

    newest: Reading | None
    progress: engine.Progress | None
    beyond: int | None
    off_by: int
    blocking: list[str]
    has_more: bool = False

    @property
    def reported(self) -> int | None:
        """The newest balance that the upstream told, in rupiah."""
        return self.newest.balance if self.newest else None

    def difference(self, found_now: list[int]) -> int | None:
        """Reported − expected, in rupiah; `found_now`: differences that are not stored yet."""
        return None if self.beyond is None else open_differences_total() + sum(found_now) + self.beyond - self.off_by

    def expected(self, difference: int | None) -> int | None:
        """What our books say it should have been."""
        return None if self.reported is None or difference is None else self.reported - difference


def _look(row: Reconciliation, now: dt.datetime) -> _Seen:
    # The readings first: an order is committed before it is sent, so that no reading can hold an order not seen here.
    known = Reading.objects.of_their_time().filter(received_at__lte=now)
    newest = known.order_by("-received_at", "-pk").first()
    if row.state is None or newest is None:
        return _Seen(newest=newest, progress=None, beyond=None, off_by=0, blocking=[])
    state = engine.State.from_json(row.state)
    rows = known.filter(sent_at__gt=state.upto).order_by("sent_at", "pk")[:_MOST_READINGS]
    readings = [_reading(reading) for reading in rows]
    spendings = [_spending(spending) for spending in Spending.objects.filter(settled_at__isnull=True)]
    off_by = _off_by(state)
    progress = engine.advance(state, readings, spendings)
    settled = set(progress.settled)
    live = [spending for spending in spendings if spending.ref_id not in settled]
    if newest.sent_at <= progress.state.compared_upto:
        beyond, waits_for = 0 if progress.state.changed_at is None else None, progress.state.undecided_by
    else:
        guess = engine.guess(progress.state, _reading(newest), live)
        beyond, waits_for = guess.difference, progress.blocking or guess.blocking
    return _Seen(
        newest=newest,
        progress=progress,
        beyond=beyond,
        off_by=off_by,
        blocking=waits_for,
        has_more=len(readings) == _MOST_READINGS and not progress.blocking,
    )


def _state(seen: _Seen, found_now: list[int]) -> str:
    if seen.progress is None:
        return State.WAITING
    open_now = [
        *Difference.objects.open().values_list("amount", "label"),
        *((amount, Difference.Label.TOPUP) for amount in found_now),
    ]
    if seen.off_by or any(amount < 0 or label != Difference.Label.TOPUP for amount, label in open_now):
        return State.UNEXPLAINED
    if seen.progress.state.changed_at:
        # Something has happened; how much it was is known when one more order or reading is.
        return State.PROVISIONAL
    if open_now:
        return State.TOPUP
    if seen.beyond is None:
        return State.WAITING
    return State.PROVISIONAL if seen.blocking or seen.beyond else State.BALANCED


def _store(trigger: str, seen: _Seen) -> ReconciliationRun:
    difference = seen.difference([])
    run = ReconciliationRun(
        trigger=trigger,
        state=_state(seen, []),
        readings_evaluated=seen.progress.evaluated if seen.progress else 0,
        reported=seen.reported,
        expected=seen.expected(difference),
        difference=difference,
        blocking=seen.blocking[:100],
    )
    last = latest_run()
    same = ("state", "reported", "expected", "difference", "blocking")
    if last and trigger != Trigger.PERSON and all(getattr(last, name) == getattr(run, name) for name in same):
        last.at = run.at
        last.readings_evaluated += run.readings_evaluated
        last.save(update_fields=["at", "readings_evaluated"])
        return last
    run.save()
    return run


def _open(row: Reconciliation) -> None:
    """Open the books at the newest balance request, unless some order's effect on it is not certain."""
    told = Reading.objects.filter(source=Reading.Source.BALANCE, received_at__lte=timezone.now())
    first = told.order_by("-sent_at").first()
    if first is None:
        return
    spendings = [_spending(spending) for spending in Spending.objects.all()]
    balance = engine.opening(_reading(first), spendings)
    if balance is None:
        return
    open_books(balance)
    row.state = engine.State.opened(balance=balance, at=first.received_at).to_json()
    row.save(update_fields=["state"])


def _reading(row: Reading) -> engine.Reading:
    return engine.Reading(balance=row.balance, sent_at=row.sent_at, received_at=row.received_at, ref_id=row.ref_id)


def _spending(row: Spending) -> engine.Spending:
    return engine.Spending(
        ref_id=row.ref_id,
        amount=row.amount,
        sent_at=row.sent_at,
        charged=row.charged,
        known_at=row.known_at,
        pending_seen_at=row.pending_seen_at,
        refunded=row.refunded,
        refund_known_at=row.refund_known_at,
        is_final=row.is_final,
        is_parked=row.is_parked,
    )
