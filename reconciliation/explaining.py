"""Tell what an order explains that was decided late from what nobody explains.

While an order waits for a person it counts as the books have it. If it was charged after all, a difference was found
then. When its entry is posted at last, that difference is closed, and the sum of all others stays exact.
"""

from __future__ import annotations

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
    """An order explains this difference: wholly, or but for a rest that is found next."""

    difference: Difference
    ref_id: str


Event = Found | Explained


class LateEntry(NamedTuple):
    """An order's entry (`change`: rupiah, signed) whose effect may be part of a difference since number `from_no`.

    `was_resent`: the order was sent again since the last quiet reading, so that it may have been charged since then.
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
    """Share what changed between two quiet readings (rupiah, signed) among late entries and somebody else.

    `differences`: those that an order may explain, oldest first. `awaiting`: what the orders that were sent in between
    and wait for a person may have done. Returns what happens to differences, and those left after that. Of all ways to
    tell it, the one with the fewest changes by somebody else is believed.
    """
    exact = _exact(late, differences)
    others = [one for one in differences if one not in exact.values()]
    merged = [entry for entry in late if entry not in exact and _place(entry, others)]
    debits = [entry for entry in merged if entry.change < 0]
    refunded = {entry.ref_id for entry in late if entry.change > 0}
    surely = [entry for entry in exact if _is_in(exact[entry], entry)]
    surely += [entry for entry in debits if entry.ref_id not in refunded and _is_in(_place(entry, others), entry)]
    ways = [[], surely, [*exact], *([*exact, entry] for entry in merged), [*exact, *debits], [*exact, *merged]]

    def unlikely(way: Sequence[LateEntry]) -> tuple[int, int]:
        is_left = change + sum(entry.change for entry in way) not in {0, *awaiting}
        return is_left + sum(entry not in way for entry in exact), sum(entry not in way for entry in surely)

    believed = min((_with_debits(way, debits) for way in ways), key=unlikely)
    events: list[Event] = []
    remaining = list(differences)
    for entry in believed:
        place = exact.get(entry) or _place(entry, remaining)
        if place:
            rest = _rest(place, entry.change)
            events += [Explained(place, entry.ref_id), *map(Found, rest)]
            index = remaining.index(place)
            remaining[index : index + 1] = rest
            change += entry.change
    if change:
        found = Difference(amount=change, from_no=from_no, to_no=to_no)
        events.append(Found(found))
        remaining.append(found)
    return events, remaining


def _exact(late: Sequence[LateEntry], differences: Sequence[Difference]) -> dict[LateEntry, Difference]:
    """The difference of just its amount for each entry that has one, each for one entry."""
    exact: dict[LateEntry, Difference] = {}
    for is_sure in (True, False):
        for entry in late:
            same = [one for one in differences if one.amount == entry.change and one not in exact.values()]
            place = _place(entry, same)
            if place and entry not in exact and (not is_sure or _is_in(place, entry)):
                exact[entry] = place
    return exact


def _with_debits(way: Sequence[LateEntry], debits: Sequence[LateEntry]) -> list[LateEntry]:
    """No refund without its debit."""
    refunded = {entry.ref_id for entry in way if entry.change > 0}
    return [*way, *(debit for debit in debits if debit.ref_id in refunded and debit not in way)]


def _place(entry: LateEntry, differences: Sequence[Difference]) -> Difference | None:
    """The difference that the entry's effect is most likely a part of.

    The first that it can be, for an order is charged soon after its sending. A refund comes any time after: the one
    that it leaves the least of.
    """
    possible = (one for one in differences if one.to_no > entry.from_no)
    if entry.change < 0:
        return min(possible, key=lambda one: one.to_no, default=None)
    return min(possible, key=lambda one: abs(one.amount - entry.change), default=None)


def _is_in(place: Difference | None, entry: LateEntry) -> bool:
    """Whether the order was sent in just that time, and so most likely charged in it."""
    return place is not None and entry.change < 0 and not entry.was_resent and place.from_no <= entry.from_no


def _rest(explained: Difference, change: int) -> list[Difference]:
    rest = explained.amount - change
    if not rest:
        return []
    return [Difference(amount=rest, from_no=explained.from_no, to_no=explained.to_no, rest_of=explained)]
