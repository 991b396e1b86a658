"""Explain the balances that the upstream told us, and find every rupiah that nobody can explain.

Pure: it knows no database, no clock and no network. docs/reconciliation.md explains it with a worked example.

Each effect of an order on the balance (its debit, its refund) took place at one moment that we do not know, inside an
interval that we do. A reading is a balance at one moment inside [sent, received]. So for a reading each effect is
certainly in it, certainly not, or open. The reading minus the certain effects leaves `outside`: the sum of everything
that no order of ours explains, for each choice of open effects that may have happened. What has happened stays so:
the choices that explain one reading restrict those of the next. When no choice is left, something outside our orders
has moved the balance; by how much is known as soon as one value of `outside` is left.

All amounts in whole rupiah.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

# 2^14 choices take a few milliseconds; with more open effects a reading is left out: wait, never alarm.
MOST_OPEN_EFFECTS = 14
# To start anew after an outside change, a reading must leave few choices: each of them is remembered.
_MOST_OPEN_TO_START_ANEW = 8
# More explanations than this are not remembered one by one; nothing is then demanded of the next reading's.
_MOST_EXPLANATIONS = 200


class Part(StrEnum):
    """The two effects that an order can have on the balance."""

    DEBIT = "debit"
    REFUND = "refund"


class Effect(NamedTuple):
    """One effect of one order."""

    ref_id: str
    part: Part


# A choice of open effects that have happened.
Explanation = frozenset[Effect]


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What is known of one order that was sent. `amount` in rupiah.

    `charged` and `refunded`: True, False, or None while not known; since `known_at` and `refund_known_at`. `sent_at`:
    the earliest moment of a debit. `pending_seen_at`: when we asked and were told "pending", so that no refund had
    happened before. `is_parked`: it waits for a person and may do so for days; nobody waits for it.
    """

    ref_id: str
    amount: int
    sent_at: dt.datetime
    charged: bool | None = None
    known_at: dt.datetime | None = None
    pending_seen_at: dt.datetime | None = None
    refunded: bool | None = None
    refund_known_at: dt.datetime | None = None
    is_final: bool = False
    is_parked: bool = False


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A balance (rupiah) at one moment in [sent_at, received_at]; `ref_id`: of the order whose sending it answers."""

    balance: int
    sent_at: dt.datetime
    received_at: dt.datetime
    ref_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The balance moved by `amount` (rupiah, signed) between these moments, and no order of ours explains it."""

    amount: int
    from_at: dt.datetime
    to_at: dt.datetime


@dataclass(frozen=True, kw_only=True)
class State:
    """What one run hands to the next.

    `base`: opening balance with every settled order. `outside`: the possible sums of outside changes, each with the
    explanations it rests on; None when one is proven but no reading was clear enough yet to say how much.
    `exact`: the sum of outside changes that were found; it was last certain at `exact_at`. `changed_at`: by when a
    change was proven that is not found yet. `upto`: the end of the last reading that was looked at.
    """

    base: int
    upto: dt.datetime
    exact: int
    exact_at: dt.datetime
    outside: dict[int, frozenset[Explanation]] | None = field(default_factory=dict)
    changed_at: dt.datetime | None = None

    @classmethod
    def opened(cls, *, balance: int, at: dt.datetime) -> State:
        """Start with the books' opening `balance` (rupiah), true of a reading that ended `at`."""
        return cls(base=balance, upto=at, exact=0, exact_at=at, outside={0: frozenset({frozenset()})})

    @property
    def undecided(self) -> list[int]:
        """The amounts (rupiah) that a proven outside change may have, while more than one is left; empty otherwise."""
        if self.changed_at is None:
            return []
        return sorted(amount - self.exact for amount in self.outside or {})

    @property
    def undecided_by(self) -> list[str]:
        """The orders whose effects a proven outside change could not be told from yet."""
        if self.changed_at is None or self.outside is None:
            return []
        explanations = (explanation for found in self.outside.values() for explanation in found)
        return sorted({effect.ref_id for explanation in explanations for effect in explanation})

    def to_json(self) -> dict[str, Any]:
        """For a JSON column."""
        outside = None
        if self.outside is not None:
            outside = [
                [amount, [[list(effect) for effect in sorted(chosen)] for chosen in explanations]]
                for amount, explanations in self.outside.items()
            ]
        return {
            "base": self.base,
            "upto": self.upto.isoformat(),
            "exact": self.exact,
            "exact_at": self.exact_at.isoformat(),
            "outside": outside,
            "changed_at": self.changed_at.isoformat() if self.changed_at else None,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> State:
        """The inverse of `to_json`."""
        outside = None
        if stored["outside"] is not None:
            outside = {
                amount: frozenset(
                    frozenset(Effect(ref_id, Part(part)) for ref_id, part in chosen) for chosen in explanations
                )
                for amount, explanations in stored["outside"]
            }
        changed_at = stored["changed_at"]
        return cls(
            base=stored["base"],
            upto=dt.datetime.fromisoformat(stored["upto"]),
            exact=stored["exact"],
            exact_at=dt.datetime.fromisoformat(stored["exact_at"]),
            outside=outside,
            changed_at=dt.datetime.fromisoformat(changed_at) if changed_at else None,
        )


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a run found out. `settled`: orders that are now part of `state.base` and must not be handed in again.

    `blocking`: orders whose outcome the next reading waits for. `evaluated` and `left_out` count readings.
    """

    state: State
    differences: list[Difference]
    settled: list[str]
    blocking: list[str]
    evaluated: int
    left_out: int


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a reading says before every order in it is final: shown, never alarmed.

    `difference` (rupiah): the smallest that the open effects allow; None when too many are open to say.
    """

    difference: int | None
    blocking: list[str]


def advance(state: State, readings: Iterable[Reading], spendings: Iterable[Spending]) -> Progress:
    """Evaluate readings for good, in the order they were sent, up to the first that an open order still blocks.

    `spendings`: every order that was sent and is not settled yet. The same input always gives the same result, and
    handing readings in over several runs gives the same as in one.
    """
    live = sorted(spendings, key=lambda spending: spending.sent_at)
    differences: list[Difference] = []
    settled: list[str] = []
    blocking: list[str] = []
    evaluated = left_out = 0
    for reading in sorted(readings, key=lambda reading: reading.sent_at):
        if reading.sent_at <= state.upto:
            # Of readings that overlap nobody knows which is older; the first is enough.
            left_out += 1
            continue
        blocking = _blocking(reading, live)
        if blocking:
            break
        state, live, gone = _settle(state, reading, live)
        settled += gone
        state, found, is_used = _evaluate(state, reading, live)
        evaluated += is_used
        left_out += not is_used
        if found:
            differences.append(found)
    return Progress(
        state=state,
        differences=differences,
        settled=settled,
        blocking=blocking,
        evaluated=evaluated,
        left_out=left_out,
    )


def opening(reading: Reading, spendings: Iterable[Spending]) -> int | None:
    """What the account had (rupiah) before the first of these orders; None while the reading leaves that open."""
    live = sorted(spendings, key=lambda spending: spending.sent_at)
    nothing = State(base=0, upto=reading.sent_at, exact=0, exact_at=reading.sent_at)
    rest, open_effects = _split(nothing, reading, live)
    return None if open_effects or _blocking(reading, live) else rest


def guess(state: State, reading: Reading, spendings: Iterable[Spending]) -> Guess:
    """What `reading` says now, whatever is still open; `state` and `spendings` as `advance` has left them."""
    live = sorted(spendings, key=lambda spending: spending.sent_at)
    blocking = _blocking(reading, live)
    rest, open_effects = _split(state, reading, live)
    if state.outside is None or len(open_effects) > MOST_OPEN_EFFECTS:
        return Guess(difference=None, blocking=blocking)
    sums = _sums(open_effects)
    allowed = _orderly(open_effects)
    possible = {rest - total - state.exact for choice, total in enumerate(sums) if allowed(choice)}
    return Guess(difference=min(possible, key=abs), blocking=blocking)


def _blocking(reading: Reading, live: Sequence[Spending]) -> list[str]:
    """The orders sent before the reading's end whose part in it will be known later."""
    return [
        spending.ref_id
        for spending in live[: bisect_right(live, reading.received_at, key=lambda spending: spending.sent_at)]
        if not spending.is_final
        and not spending.is_parked
        and spending.charged is not False
        and not _had_no_refund(spending, reading)
    ]


def _had_no_refund(spending: Spending, reading: Reading) -> bool:
    """Whether the order was accepted, and the upstream said "pending" when asked after the reading."""
    return (
        spending.charged is True
        and spending.pending_seen_at is not None
        and spending.pending_seen_at >= reading.received_at
    )


class _In(StrEnum):
    """Whether an effect is in a reading."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


def _debit_in(spending: Spending, reading: Reading) -> _In:
    if spending.charged is False or spending.sent_at > reading.received_at:
        return _In.NO
    # The answer to the sending tells the balance after it.
    if reading.ref_id == spending.ref_id:
        return _In.YES
    if spending.charged and spending.known_at is not None and spending.known_at < reading.sent_at:
        return _In.YES
    return _In.OPEN


def _refund_in(spending: Spending, reading: Reading) -> _In:
    cannot_be = spending.charged is False or spending.refunded is False
    if cannot_be or reading.ref_id == spending.ref_id:
        return _In.NO
    earliest = max(spending.sent_at, spending.pending_seen_at or spending.sent_at)
    if reading.received_at <= earliest:
        return _In.NO
    if spending.refunded and spending.refund_known_at is not None and spending.refund_known_at < reading.sent_at:
        return _In.YES
    return _In.OPEN


class _OpenEffect(NamedTuple):
    effect: Effect
    amount: int  # signed: what it does to the balance
    is_parked: bool


def _split(state: State, reading: Reading, live: Sequence[Spending]) -> tuple[int, list[_OpenEffect]]:
    """The reading minus everything that is certainly in it, and the effects that may be in it."""
    rest = reading.balance - state.base
    open_effects: list[_OpenEffect] = []
    for spending in live:
        if spending.sent_at > reading.received_at:
            break
        for part, is_in, amount in (
            (Part.DEBIT, _debit_in(spending, reading), -spending.amount),
            (Part.REFUND, _refund_in(spending, reading), spending.amount),
        ):
            if is_in is _In.YES:
                rest -= amount
            elif is_in is _In.OPEN:
                open_effects.append(_OpenEffect(Effect(spending.ref_id, part), amount, spending.is_parked))
    return rest, open_effects


def _sums(open_effects: Sequence[_OpenEffect]) -> list[int]:
    """The sum of each choice of effects; a choice is a number whose bit i stands for effect i."""
    sums = [0]
    for open_effect in open_effects:
        sums += [total + open_effect.amount for total in sums]
    return sums


class _orderly:  # noqa: N801 (used as a function)
    """Says whether a choice has no refund whose own debit is open and not chosen."""

    def __init__(self, open_effects: Sequence[_OpenEffect]) -> None:
        bits = {open_effect.effect: 1 << index for index, open_effect in enumerate(open_effects)}
        self._pairs = [
            (bit, bits[Effect(effect.ref_id, Part.DEBIT)])
            for effect, bit in bits.items()
            if effect.part is Part.REFUND and Effect(effect.ref_id, Part.DEBIT) in bits
        ]

    def __call__(self, choice: int) -> bool:
        return all(choice & debit or not choice & refund for refund, debit in self._pairs)


def _evaluate(state: State, reading: Reading, live: Sequence[Spending]) -> tuple[State, Difference | None, bool]:
    """Confront the carried explanations with one reading: the new state, a difference, whether it could be used."""
    rest, open_effects = _split(state, reading, live)
    if len(open_effects) > MOST_OPEN_EFFECTS:
        return replace(state, upto=reading.received_at), None, False
    outside = _continue(state, rest, open_effects)
    changed_at = state.changed_at
    if not outside:
        # No choice explains it: something outside our orders has moved the balance.
        changed_at = reading.received_at
        anew = _start_anew(state, rest, open_effects)
        if anew is None:
            return replace(state, outside=None, changed_at=changed_at, upto=reading.received_at), None, True
        outside = anew

    found = None
    exact, exact_at = state.exact, state.exact_at
    if len(outside) == 1:
        (amount,) = outside
        if changed_at is not None and amount != exact:
            found = Difference(amount=amount - exact, from_at=exact_at, to_at=changed_at)
        exact, changed_at = amount, None
        if outside[amount] == {frozenset()} and all(open_effect.is_parked for open_effect in open_effects):
            exact_at = reading.sent_at
    state = replace(
        state, outside=outside, exact=exact, exact_at=exact_at, changed_at=changed_at, upto=reading.received_at
    )
    return state, found, True


def _continue(state: State, rest: int, open_effects: Sequence[_OpenEffect]) -> dict[int, frozenset[Explanation]]:
    """The choices that explain the reading with an `outside` that was possible before, and what happened then."""
    if not state.outside:
        return {}
    effects = [open_effect.effect for open_effect in open_effects]
    bits = {effect: 1 << index for index, effect in enumerate(effects)}
    # What had happened then and is open now. What is certain by now, or certainly never was, demands nothing.
    demanded = {
        amount: {sum(bits.get(effect, 0) for effect in explanation) for explanation in explanations}
        for amount, explanations in state.outside.items()
    }
    orderly = _orderly(open_effects)
    kept: dict[int, list[int]] = {}
    for choice, total in enumerate(_sums(open_effects)):
        masks = demanded.get(rest - total)
        if masks is not None and orderly(choice) and any(choice & mask == mask for mask in masks):
            kept.setdefault(rest - total, []).append(choice)
    return {amount: _explanations(choices, effects) for amount, choices in kept.items()}


def _start_anew(
    state: State, rest: int, open_effects: Sequence[_OpenEffect]
) -> dict[int, frozenset[Explanation]] | None:
    """Every choice that may explain the reading together with an outside change; None when there are too many.

    What has happened stays so here, too. Parked orders are taken to be as they were, or not charged: that one of them
    took effect in the very moment of an outside change is the least likely of all, and waiting for it to be resolved
    would hide the change for days.
    """
    if sum(not open_effect.is_parked for open_effect in open_effects) > _MOST_OPEN_TO_START_ANEW:
        return None
    effects = [open_effect.effect for open_effect in open_effects]
    parked = {open_effect.effect: 1 << i for i, open_effect in enumerate(open_effects) if open_effect.is_parked}
    others = {open_effect.effect: 1 << i for i, open_effect in enumerate(open_effects) if not open_effect.is_parked}
    all_parked = sum(parked.values())
    explained = [chosen for explanations in (state.outside or {}).values() for chosen in explanations]
    before = {0} | {sum(parked.get(effect, 0) for effect in chosen) for chosen in explained}
    happened = {sum(others.get(effect, 0) for effect in chosen) for chosen in explained} or {0}
    orderly = _orderly(open_effects)
    found: dict[int, list[int]] = {}
    for choice, total in enumerate(_sums(open_effects)):
        if choice & all_parked not in before or not orderly(choice):
            continue
        if any(choice & mask == mask for mask in happened):
            found.setdefault(rest - total, []).append(choice)
    return {amount: _explanations(choices, effects) for amount, choices in found.items()}


def _explanations(choices: Sequence[int], effects: Sequence[Effect]) -> frozenset[Explanation]:
    """The choices as sets of effects, without those that only add to another: a smaller one demands less."""
    if len(choices) > _MOST_EXPLANATIONS:
        return frozenset({frozenset()})
    least = [choice for choice in choices if not any(other != choice and other & choice == other for other in choices)]
    return frozenset(
        frozenset(effect for index, effect in enumerate(effects) if choice >> index & 1) for choice in least
    )


def _settle(state: State, reading: Reading, live: list[Spending]) -> tuple[State, list[Spending], list[str]]:
    """Take the orders into the base whose every effect is certain for this reading and so for all later ones."""
    base = state.base
    still_live: list[Spending] = []
    settled: list[str] = []
    for spending in live:
        if not spending.is_final or not _is_certain(spending, reading):
            still_live.append(spending)
            continue
        settled.append(spending.ref_id)
        base -= spending.amount if spending.charged else 0
        base += spending.amount if spending.refunded else 0
    return replace(state, base=base), still_live, settled


def _is_certain(spending: Spending, reading: Reading) -> bool:
    if spending.charged is None or spending.known_at is None or spending.known_at >= reading.sent_at:
        return False
    if not spending.charged or spending.refunded is False:
        return True
    return spending.refund_known_at is not None and spending.refund_known_at < reading.sent_at
