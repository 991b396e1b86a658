"""Compares the books with the upstream's balance. docs/reconciliation.md explains the method with an example."""

import datetime as dt
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core import clock
from core.snapshot import snapshot
from core.together import read_together
from gateway.dispatching import Due
from gateway.line import Work, ring_when_committed
from gateway.models import Exchange
from ledger.models import Books, Proof
from ledger.services import available, books, open_books, settled_no
from reconciliation import explaining, quiet
from reconciliation.models import Difference, Reconciliation, ReconciliationRun
from reconciliation.services.differences import as_found, lock_reconciliation, record
from reconciliation.services.facts import as_reading, known_from, known_questions, known_since, readings
from reconciliation.services.proving import prove
from reconciliation.services.repeating import repeat_last_run
from upstream.endpoints import Endpoint

Result = ReconciliationRun.Result
Trigger = ReconciliationRun.Trigger

# One transaction takes at most this many readings; a run makes transactions until its time (seconds) is over.
_MOST_READINGS = 10_000
_PATIENCE_SECONDS = 20.0

_READ = "reconciliation.tasks.read_balance"
# If no reading was quiet for this time, the balance is read again soon: the next reading may be quiet.
_NOTHING_QUIET_FOR, _READ_AGAIN_AFTER = dt.timedelta(seconds=30), dt.timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True)
class Position:
    """The state of the account, in rupiah; None for an amount that is not known yet.

    `reported`: the newest balance that the upstream reported. `expected`: the balance by our books at that time.
    `difference`: reported − expected. `between`: the least and the greatest difference that the orders under way allow,
    if the balance is wrong in any case; then `difference` is the smaller of both, or None if the account may hold too
    little or too much. `available`: the rupiah that a new order may spend. `proof`: that of the books themselves.
    """

    reported: int | None
    reported_at: dt.datetime | None
    expected: int | None
    available: int | None
    held: int
    difference: int | None
    between: tuple[int, int] | None
    state: str
    blocking: list[str]
    proof: Proof

    def as_json(self) -> dict[str, object]:
        """The position as the command prints it."""
        return {
            "reported": self.reported,
            "reported_at": self.reported_at.isoformat() if self.reported_at else None,
            "expected": self.expected,
            "available": self.available,
            "held": self.held,
            "difference": self.difference,
            "between": self.between,
            "state": self.state,
        }


def reconcile(trigger: str = Trigger.BEAT) -> ReconciliationRun:
    """Prove the new entries, judge every reading that can be judged, store the findings, and return the run.

    Safe at any time, by anyone, at once: runs wait for one another, and each goes on where the last one ended. A run
    without a change is counted on the last one of the same day.
    """
    if trigger != Trigger.PERSON and (same := repeat_last_run()):
        return same
    proof = prove()
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        settled = settled_no()
        with transaction.atomic():
            look = _go_on(settled)
            if not look.has_more or time.monotonic() > until:
                return _store(trigger, look, proof)


def position() -> Position:
    """The state of the account now, as `reconcile` would find it; stores nothing."""
    with snapshot():
        return position_from(*read_together(*position_questions()))


def position_questions() -> list[QuerySet[Any]]:
    """The first queries for `position`; `position_from` takes the answers, in the same `snapshot`."""
    return [
        Reconciliation.objects.select_related("quiet").filter(only=True),
        Books.objects.filter(only=True),
        Proof.objects.filter(only=True),
    ]


def position_from(rows: list[Reconciliation], kept: list[Books], proofs: list[Proof]) -> Position:
    """The state of the account, from the answers to `position_questions`."""
    look = _look(rows[0] if rows else Reconciliation())
    left = look.judgement.differences if look.judgement else []
    labels = [_label_of(difference, look.rows) for difference in left]
    current, proof = kept[0] if kept else Books(), proofs[0] if proofs else Proof()
    total = sum(open_difference.amount for open_difference in left)
    difference = look.difference(total, proof)
    return Position(
        reported=look.reported,
        reported_at=look.newest.answered_at if look.newest else None,
        expected=look.expected(difference),
        available=available(current),
        held=current.reserved,
        difference=difference,
        between=look.between(total, proof),
        state=_result(look, labels, proof),
        blocking=look.blocking,
        proof=proof,
    )


def compared_reading() -> QuerySet[Exchange]:
    """The newest reading that was compared; none before the first comparison."""
    return Exchange.objects.filter(pk=Reconciliation.objects.values("quiet")[:1])


def compared_at() -> dt.datetime | None:
    """The time at which the upstream reported the newest compared balance; None before the first comparison."""
    return compared_reading().values_list("answered_at", flat=True).first()


def latest_run() -> ReconciliationRun | None:
    """The newest run, or None before the first."""
    return ReconciliationRun.objects.first()


def read_again_at(time: dt.datetime) -> None:
    """Have the balance read at this time, and not only at beat's next minute."""
    with transaction.atomic():
        row = lock_reconciliation()
        row.read_again_at = time
        row.save(update_fields=["read_again_at"])
        ring_when_committed(time)


def take_reading_again(now: dt.datetime) -> list[Work]:
    """The work of reading the balance before its minute, once, when it is due."""
    is_due = Reconciliation.objects.filter(read_again_at__lte=now).update(read_again_at=None)
    return [Work(_READ, 1)] if is_due else []


def _earliest_reading() -> QuerySet[Any]:
    return Reconciliation.objects.filter(read_again_at__isnull=False).values_list("read_again_at")


# The task gets a permit itself, as in each minute.
DUE_READING = Due(earliest=_earliest_reading, take=lambda _: take_reading_again(clock.now()), asks_upstream=False)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """The result of a look at the newest reading.

    `batch`: the given readings; `judgement`: the result about them. `beyond`: rupiah by which the newest reading may
    differ from everything found so far, for any outcome of open orders; None: not known. `blocking`: orders that block
    its judgement.
    """

    newest: Exchange | None
    batch: list[Exchange]
    judgement: quiet.Judgement | None
    rows: dict[explaining.Difference, Difference]
    beyond: frozenset[int] | None
    blocking: list[str]

    @property
    def reported(self) -> int | None:
        """The newest balance that the upstream reported, in rupiah."""
        return self.newest.balance if self.newest else None

    @property
    def judged(self) -> list[Exchange]:
        """The finished readings of the batch."""
        upto = self.judgement.progress.judged_no if self.judgement else 0
        return [reading for reading in self.batch if (reading.answered_no or 0) <= upto]

    @property
    def has_more(self) -> bool:
        """Whether there are readings left that can be judged."""
        return len(self.judged) == _MOST_READINGS

    @property
    def is_compared(self) -> bool:
        """Whether the newest reading is the last quiet one, or was made at the same time."""
        quiet_no = self.judgement.progress.quiet.answered_no if self.judgement else 0
        return self.newest is not None and self.newest.pk < quiet_no

    def difference(self, total: int, proof: Proof) -> int | None:
        """Reported − expected, in rupiah, the least that open orders allow; `total`: the sum of all open differences.

        None while the account may hold too little or too much: nobody knows the sign, and one sum would be a guess.
        """
        ends = self.between(total, proof)
        if self.beyond is None or (ends and not self._has_sign(*ends)):
            return None
        return total + min(self.beyond, key=abs) - proof.flaw_amount

    def between(self, total: int, proof: Proof) -> tuple[int, int] | None:
        """The least and the greatest reported − expected, if it is wrong and open orders decide by how much."""
        if self.beyond is None or 0 in self.beyond:
            return None
        found = total - proof.flaw_amount
        least, most = min(self.beyond), max(self.beyond)
        return None if least == most else (found + least, found + most)

    def _has_sign(self, least: int, most: int) -> bool:
        """Whether the account holds too little, or too much, for every outcome of the open orders."""
        return least * most > 0 and self.beyond is not None and min(self.beyond) * max(self.beyond) > 0

    def expected(self, difference: int | None) -> int | None:
        """The balance by our books."""
        return None if self.reported is None or difference is None else self.reported - difference


def _go_on(settled: int) -> _Look:
    """Judge the next readings that were answered before the number `settled`, and store the findings."""
    row = lock_reconciliation()
    if row.quiet is None:
        _open(row, settled)
    look = _look(row, settled)
    if look.judgement:
        progress = look.judgement.progress
        exchanges = {exchange.pk: exchange for exchange in (row.quiet, *look.batch) if exchange}
        times = {pk: exchange.sent_at for pk, exchange in exchanges.items()}
        times |= {e.answered_no: e.answered_at for e in exchanges.values() if e.answered_no and e.answered_at}
        record(look.judgement.events, look.rows, times)
        row.quiet = exchanges[progress.quiet.no]
        row.booked, row.outside, row.judged_no = progress.booked, progress.outside, progress.judged_no
        if look.judged:
            row.read_again_at = _read_again_at(row.quiet, look.judged[-1])
            ring_when_committed(row.read_again_at)
        row.save()
    return look


def _look(row: Reconciliation, settled: int | None = None) -> _Look:
    newest_first = readings().order_by("-pk")[:1]
    if row.quiet is None:
        newest_rows, *facts = read_together(newest_first, *known_questions(0))
        newest = newest_rows[0] if newest_rows else None
        blocking = quiet.blocking(as_reading(newest), known_from(*facts).orders) if newest else []
        return _Look(newest=newest, batch=[], judgement=None, rows={}, beyond=None, blocking=blocking)
    # Readings before the last quiet one, or at the same time, are of no use.
    ahead = readings().filter(pk__gte=row.quiet.answered_no, answered_no__gt=row.judged_no)
    if settled is not None:
        # Somebody may be posting an entry with a lower number than that of a later reading.
        ahead = ahead.filter(answered_no__lt=settled)
    newest_rows, batch, still_open, *facts = read_together(
        newest_first,
        ahead.order_by("answered_no")[:_MOST_READINGS],
        Difference.objects.open().order_by("pk"),
        *known_questions(row.quiet.pk),
    )
    if not newest_rows:
        return _Look(newest=None, batch=[], judgement=None, rows={}, beyond=None, blocking=[])
    newest, known = newest_rows[0], known_from(*facts)
    progress = quiet.Progress(
        quiet=as_reading(row.quiet), booked=row.booked, outside=row.outside, judged_no=row.judged_no
    )
    rows = as_found(still_open)
    judgement = quiet.judge(progress, map(as_reading, batch), known, rows)
    look = _Look(newest=newest, batch=batch, judgement=judgement, rows=rows, beyond=frozenset({0}), blocking=[])
    if look.is_compared:
        return look
    reading = as_reading(newest)
    return replace(
        look,
        beyond=quiet.possible_differences(judgement.progress, reading, known),
        blocking=quiet.blocking(reading, known.orders),
    )


def _result(look: _Look, labels: Collection[str], proof: Proof) -> ReconciliationRun.Result:
    """The state of the run; `labels`: those of the open differences."""
    if proof.flaw:
        return Result.UNEXPLAINED
    if look.judgement is None:
        return Result.WAITING
    if set(labels) - {Difference.Label.TOPUP}:
        return Result.UNEXPLAINED
    if labels:
        return Result.TOPUP
    if look.is_compared:
        return Result.BALANCED
    return Result.WAITING if look.beyond is None else Result.PROVISIONAL


def _label_of(difference: explaining.Difference, rows: dict[explaining.Difference, Difference]) -> str:
    """The label of a difference; before it is stored, only its sign decides."""
    if difference in rows:
        return rows[difference].label
    return Difference.Label.TOPUP if difference.amount > 0 else Difference.Label.UNEXPLAINED


def _store(trigger: str, look: _Look, proof: Proof) -> ReconciliationRun:
    difference = look.difference(books().found, proof)
    run = ReconciliationRun(
        trigger=trigger,
        state=_result(look, Difference.objects.open().values_list("label", flat=True), proof),
        readings_evaluated=look.judgement.quiet if look.judgement else 0,
        reported=look.reported,
        expected=look.expected(difference),
        difference=difference,
        blocking=look.blocking[:100],
    )
    last = latest_run()
    same = ("state", "reported", "expected", "difference", "blocking")
    is_as_before = last is not None and all(getattr(last, name) == getattr(run, name) for name in same)
    # The last run of an earlier day stays there, because the page of that day shows it.
    if last and is_as_before and _day_of(last) == _day_of(run) and trigger != Trigger.PERSON:
        last.at = run.at
        last.readings_evaluated += run.readings_evaluated
        last.save(update_fields=["at", "readings_evaluated"])
        return last
    run.save()
    return run


def _day_of(run: ReconciliationRun) -> dt.date:
    return timezone.localdate(run.at)


def _open(row: Reconciliation, settled: int) -> None:
    """Open the books at the newest balance request, unless an order's effect on it is uncertain."""
    first = readings().filter(endpoint=Endpoint.BALANCE, answered_no__lt=settled).order_by("-pk").first()
    if first is None:
        return
    known = known_since(0)
    balance = quiet.opening(as_reading(first), known)
    if balance is None:
        return
    open_books(balance)
    row.quiet, row.booked, row.judged_no = first, first.balance or 0, first.answered_no or 0
    row.save()


def _read_again_at(last_quiet: Exchange, last_judged: Exchange) -> dt.datetime | None:
    """The time to read the balance before its minute: soon, if no reading was quiet for a while."""
    if last_judged.sent_at - last_quiet.sent_at <= _NOTHING_QUIET_FOR:
        return None
    return clock.now() + _READ_AGAIN_AFTER
