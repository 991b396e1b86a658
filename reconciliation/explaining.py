"""Separates differences that a late decision about an order explains from those that nothing explains.

An order that waits for a person counts as it is in the books. If it was charged, that is found as a difference. When
the order's entry is posted later, this difference is closed, and the sum of all others stays exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """The balance moved by `amount` (rupiah, signed) between these numbers, and no order explains it.

    `rest_of`: the difference of which an order explains the other part.
    """

    amount: int
    from_no: int
    to_no: int
    rest_of: Difference | None = None


class Found(NamedTuple):
    """A new difference."""

    difference: Difference


class Explained(NamedTuple):
    """An order explains this difference: fully, or with a rest that is found next."""

    difference: Difference
    ref_id: str


Event = Found | Explained


class LateEntry(NamedTuple):
    """An order's entry (`change`: rupiah, signed) whose effect may be part of a difference since number `from_no`.

    `was_resent`: the order was sent again since the last quiet reading, so it may have been charged since then.
    """

    ref_id: str
    change: int
    from_no: int
    was_resent: bool


def explain(
    change: int,
    late: Sequence[LateEntry],
    differences: Sequence[Difference],
    awaiting: Collection[int] = (),
    *,
    from_no: int,
    to_no: int,
) -> tuple[list[Event], list[Difference]]:
    """Divide the change between two quiet readings (rupiah, signed) among late entries and somebody else.

    `differences`: those that an order may explain, oldest first. `awaiting`: the possible effects of orders that were
    sent in between and wait for a person. Returns the steps of differences, and the ones left. The explanation with the
    fewest changes by somebody else is believed.
    """
    # usually nothing is late, and then the work does not grow with the number of open differences
    events, left, rest = _explained(change, late, differences, awaiting) if late else ([], list(differences), change)
    if rest:
        difference = Difference(amount=rest, from_no=from_no, to_no=to_no)
        events.append(Found(difference))
        left.append(difference)
    return events, left


def _explained(
    change: int, late: Sequence[LateEntry], differences: Sequence[Difference], awaiting: Collection[int]
) -> tuple[list[Event], list[Difference], int]:
    """The differences that late entries explain, the ones left, and the rest of the change (rupiah, signed)."""
    exact = _exact(late, differences)
    taken = set(exact.values())
    others = _Places([difference for difference in differences if difference not in taken])
    merged = [entry for entry in late if entry not in exact and others.has_one_after(entry.from_no)]
    debits = [entry for entry in merged if entry.change < 0]
    refunded = {entry.ref_id for entry in late if entry.change > 0}
    surely = [entry for entry in exact if _is_in(exact[entry], entry)]
    surely += [entry for entry in debits if entry.ref_id not in refunded and _is_in(others.best_for(entry), entry)]
    believed = _believed(change, exact, merged, surely, awaiting)

    events: list[Event] = []
    remaining = _Places(differences)
    for entry in believed:
        if place := exact.get(entry) or remaining.best_for(entry):
            rest = _rest(place, entry.change)
            events += [Explained(place, entry.ref_id), *map(Found, rest)]
            remaining.put(rest, in_place_of=place)
            change += entry.change
    return events, remaining.left(), change


def _believed(
    change: int,
    exact: Collection[LateEntry],
    merged: Sequence[LateEntry],
    surely: Sequence[LateEntry],
    awaiting: Collection[int],
) -> list[LateEntry]:
    """The entries of the likeliest way: the fewest changes by somebody else, then the most certain entries."""
    expected, sure = {0, *awaiting}, set(surely)
    debits = [entry for entry in merged if entry.change < 0]
    debit_of = {entry.ref_id: entry for entry in debits}
    base = set(_with_debits([*exact], debits))
    base_change = change + sum(entry.change for entry in base)

    def unlikely_beside(entry: LateEntry) -> tuple[bool, int]:
        """The rank of the exact entries with this one, as by `unlikely`, in constant time: there may be a thousand."""
        more = {entry, debit_of.get(entry.ref_id, entry) if entry.change > 0 else entry} - base
        return base_change + sum(other.change for other in more) not in expected, -len(more & sure)

    def unlikely(way: Sequence[LateEntry]) -> tuple[int, int]:
        chosen = set(way)
        is_left = change + sum(entry.change for entry in way) not in expected
        return is_left + sum(entry not in chosen for entry in exact), sum(entry not in chosen for entry in surely)

    likeliest = [[*exact, min(merged, key=unlikely_beside)]] if merged else []
    ways = [[], surely, [*exact], *likeliest, [*exact, *debits], [*exact, *merged]]
    return min((_with_debits(way, debits) for way in ways), key=unlikely)


def _exact(late: Sequence[LateEntry], differences: Sequence[Difference]) -> dict[LateEntry, Difference]:
    """The entries that have a difference of exactly their amount, each with its own difference."""
    same: dict[int, list[Difference]] = {}
    for difference in differences:
        same.setdefault(difference.amount, []).append(difference)
    places = {amount: _Places(ones) for amount, ones in same.items()}
    exact: dict[LateEntry, Difference] = {}
    for is_sure in (True, False):
        for entry in late:
            if entry in exact or entry.change not in places:
                continue
            place = places[entry.change].best_for(entry)
            if place and (not is_sure or _is_in(place, entry)):
                exact[entry] = place
                places[entry.change].put([], in_place_of=place)
    return exact


def _with_debits(way: Sequence[LateEntry], debits: Sequence[LateEntry]) -> list[LateEntry]:
    """The way, with the debits of its refunds added: there is no refund without its debit."""
    chosen = set(way)
    refunded = {entry.ref_id for entry in way if entry.change > 0}
    return [*way, *(debit for debit in debits if debit.ref_id in refunded and debit not in chosen)]


class _Places:
    """Differences of which entries may be parts, found in logarithmic time by the number at which they end."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        self._now: list[Difference | None] = list(differences)
        self._index = {difference: index for index, difference in enumerate(differences)}
        self._by_end = sorted(range(len(differences)), key=lambda index: differences[index].to_no)
        self._rank = {index: rank for rank, index in enumerate(self._by_end)}
        self._ends = [differences[index].to_no for index in self._by_end]
        self._next = list(range(len(differences) + 1))  # the first rank from here on that is not used up

    def has_one_after(self, no: int) -> bool:
        """Whether one of them ends after this number."""
        return self._first_after(no) < len(self._ends)

    def best_for(self, entry: LateEntry) -> Difference | None:
        """The difference that the entry's effect is most likely a part of.

        For a debit the first possible difference, because an order is charged soon after its sending. For a refund,
        which may come at any later time, the difference with the smallest rest.
        """
        if entry.change < 0:
            rank = self._first_after(entry.from_no)
            return self._now[self._by_end[rank]] if rank < len(self._ends) else None
        possible = (difference for difference in self._now if difference and difference.to_no > entry.from_no)
        return min(possible, key=lambda difference: abs(difference.amount - entry.change), default=None)

    def put(self, rest: Sequence[Difference], *, in_place_of: Difference) -> None:
        """Replace a difference by its rest, if any."""
        index = self._index.pop(in_place_of)
        self._now[index] = rest[0] if rest else None
        if rest:
            self._index[rest[0]] = index
        else:
            self._next[self._rank[index]] = self._rank[index] + 1

    def left(self) -> list[Difference]:
        """The differences that are not used up, in their order."""
        return [difference for difference in self._now if difference]

    def _first_after(self, no: int) -> int:
        rank = bisect_right(self._ends, no)
        while self._next[rank] != rank:
            self._next[rank] = self._next[self._next[rank]]
            rank = self._next[rank]
        return rank


def _is_in(place: Difference | None, entry: LateEntry) -> bool:
    """Whether the order was sent, and so most likely charged, within the time of this difference."""
    return place is not None and entry.change < 0 and not entry.was_resent and place.from_no <= entry.from_no


def _rest(explained: Difference, change: int) -> list[Difference]:
    rest = explained.amount - change
    if not rest:
        return []
    return [Difference(amount=rest, from_no=explained.from_no, to_no=explained.to_no, rest_of=explained)]
