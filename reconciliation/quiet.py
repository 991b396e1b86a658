"""Compares the upstream's balance with the books in moments when none of our orders was moving.

Pure: no database and no clock. Every request, answer and entry has a number from one sequence, so that "before" is
never a matter of clocks. docs/reconciliation.md explains the method with an example. All amounts in whole rupiah.

An order's debit happened after its sending and before its entry; its refund after the last request that was answered
"pending" and before its entry. A reading outside all windows is quiet: the entries before it are exactly the effect of
our orders. The rest is `outside`. If it changes, somebody else moved the balance.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import NamedTuple

from reconciliation.explaining import Difference, Event, LateEntry, explain

# With more orders under way the newest reading says nothing yet: ten of them have 1,024 possible sums.
_MOST_UNDER_WAY = 10


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A balance at one moment between the numbers `no` and `answered_no`.

    `ref_id`: the order whose sending it answers; it contains that order's debit, and not its refund.
    """

    no: int
    answered_no: int
    balance: int
    ref_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order that was sent: `sent_no` before its debit, `pending_no` before its refund, `resent_no` the last sending.

    `is_open`: the upstream will still report its outcome; `next_change`: the possible effect on the balance (signed).
    An order that waits for a person is not open: it counts as it is in the books.
    """

    ref_id: str
    sent_no: int
    pending_no: int = 0
    resent_no: int = 0
    next_change: int = 0
    is_open: bool = False

    @property
    def known_until(self) -> int:
        """The number until which the effect of an open order is known."""
        return max(self.sent_no, self.pending_no)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An order's effect on the balance (`change`, signed), in the books since number `no`."""

    no: int
    ref_id: str
    change: int


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The state that one run hands to the next.

    `quiet`: the last quiet reading; `booked`: the opening balance with all entries before it; `outside`: the rest, the
    sum of all differences that no order explains. `judged_no`: readings that were answered by this number are finished.
    """

    quiet: Reading
    booked: int
    outside: int = 0
    judged_no: int = 0


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The result of a run: the progress, the steps of differences in order, the ones left, and the quiet readings."""

    progress: Progress
    events: list[Event]
    differences: list[Difference]
    quiet: int


@dataclass(frozen=True)
class Known:
    """The facts of the books: the entries of orders from `Progress.quiet.no` on, their orders, and every open order."""

    entries: Sequence[Entry]
    orders: Sequence[Order]


def judge(
    progress: Progress, readings: Iterable[Reading], known: Known, differences: Iterable[Difference] = ()
) -> Judgement:
    """Compare the readings that are not judged yet, up to the first one that an open order still blocks.

    `differences`: those that the entry of a late-decided order may explain. The time is linear in the size of the
    arguments.
    """
    ledger, left = _Ledger(progress, known), list(differences)
    events: list[Event] = []
    quiet = 0
    for reading in sorted(readings, key=lambda reading: reading.answered_no):
        if reading.answered_no > ledger.known_until:
            break
        # Nobody knows which of two overlapping readings came first. One is enough.
        if reading.no >= progress.quiet.answered_no and ledger.is_quiet(reading):
            quiet += 1
            late = ledger.go_on_to(reading, since=progress.quiet)
            now = replace(progress, quiet=reading, booked=ledger.booked, outside=ledger.left_over(reading))
            between = {"from_no": progress.quiet.no, "to_no": reading.answered_no}
            awaiting = ledger.awaiting(**between)
            happened, left = explain(now.outside - progress.outside, late, left, awaiting, **between)
            events += happened
            progress = now
        progress = replace(progress, judged_no=max(progress.judged_no, reading.answered_no))
    return Judgement(progress=progress, events=events, differences=left, quiet=quiet)


def opening(reading: Reading, known: Known) -> int | None:
    """The account's rupiah before the first order; None while it is unknown whether this reading contains an order.

    An order that waits for a person counts as not charged. If it was charged, a later run finds that.
    """
    ledger = _Ledger(Progress(quiet=replace(reading, no=0, answered_no=0), booked=0), known)
    if reading.answered_no > ledger.known_until or not ledger.is_quiet(reading):
        return None
    ledger.go_on_to(reading, since=replace(reading, no=0, answered_no=0))
    return ledger.left_over(reading)


def possible_differences(progress: Progress, reading: Reading, known: Known) -> frozenset[int] | None:
    """Every difference (rupiah, signed) that the orders under way allow; None if there are too many orders.

    For a reading that is not judged, or not quiet. The result is shown and never opens an alert.
    """
    ledger = _Ledger(progress, known)
    under_way = ledger.under_way_in(reading)
    if len(under_way) > _MOST_UNDER_WAY:
        return None
    ledger.go_on_to(reading, since=progress.quiet)
    possible = {ledger.left_over(reading) - progress.outside}
    for change in under_way:
        possible |= {left - change for left in possible}
    return frozenset(possible)


def blocking(reading: Reading, orders: Iterable[Order]) -> list[str]:
    """The open orders that block the judgement of the reading."""
    return [order.ref_id for order in orders if order.is_open and order.known_until < reading.answered_no]


class _Window(NamedTuple):
    """The numbers between which an entry's effect on the balance happened; sorted by the end."""

    until: float
    since: int
    ref_id: str


class _Ledger:
    """The entries in the order of their numbers, with the windows of their effects."""

    def __init__(self, progress: Progress, known: Known) -> None:
        self.booked = progress.booked
        self.known_until = min((order.known_until for order in known.orders if order.is_open), default=math.inf)
        self._orders: Mapping[str, Order] = {order.ref_id: order for order in known.orders}
        entries = sorted(known.entries, key=lambda entry: entry.no, reverse=True)
        self._ahead = [entry for entry in entries if entry.no >= progress.quiet.no]
        self._debits = {entry.ref_id: entry for entry in self._ahead if entry.change < 0}
        windows = [_Window(entry.no, self._since(entry), entry.ref_id) for entry in self._ahead]
        self._windows = sorted(windows, key=lambda window: window.since, reverse=True)
        self._last: list[_Window] = []
        self._awaiting = [order for order in known.orders if order.next_change and not order.is_open]

    def is_quiet(self, reading: Reading) -> bool:
        """Whether no effect can have happened inside the reading; ask for readings in the order of their answers."""
        while self._windows and self._windows[-1].since < reading.answered_no:
            # Of the windows that have begun, only those that end last count. A reading's own order has two at most.
            self._last = nlargest(3, [*self._last, self._windows.pop()])
        return not any(window.until > reading.no and window.ref_id != reading.ref_id for window in self._last)

    def go_on_to(self, reading: Reading, *, since: Reading) -> list[LateEntry]:
        """Book the entries before the reading; return those that the reading `since` may have contained unnoticed."""
        late = []
        while self._ahead and self._ahead[-1].no < reading.no:
            entry = self._ahead.pop()
            self.booked += entry.change
            from_no = self._since(entry)
            if from_no < since.answered_no and entry.ref_id != since.ref_id:
                was_resent = self._orders[entry.ref_id].resent_no > since.answered_no
                late.append(LateEntry(entry.ref_id, entry.change, from_no, was_resent))
        return late

    def left_over(self, reading: Reading) -> int:
        """The reading less all booked entries, and less its own order's debit."""
        own = self._debits.get(reading.ref_id)
        return reading.balance - self.booked - (own.change if own and own.no >= reading.no else 0)

    def awaiting(self, *, from_no: int, to_no: int) -> set[int]:
        """The possible effects on the balance of orders that were sent in between and wait for a person."""
        return {order.next_change for order in self._awaiting if from_no < order.sent_no < to_no}

    def under_way_in(self, reading: Reading) -> list[int]:
        """The effect on the balance of each order that the reading may contain or not."""
        open_orders = (order for order in self._orders.values() if order.is_open)
        changes = {order.ref_id: order.next_change for order in open_orders if order.known_until < reading.answered_no}
        # The last entry comes first: an order's debit replaces its refund here, because there is no refund without a
        # debit.
        for entry in self._ahead:
            if entry.no > reading.no and self._since(entry) < reading.answered_no:
                changes[entry.ref_id] = entry.change
        changes.pop(reading.ref_id, None)
        return list(changes.values())

    def _since(self, entry: Entry) -> int:
        order = self._orders.get(entry.ref_id)
        if order is None:
            return entry.no
        return order.sent_no if entry.change < 0 else order.known_until
