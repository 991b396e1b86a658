"""Which effects of which orders are in a reading, for certain or perhaps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from balance.engine.facts import Effect, Part, Reading, Spending, State, Story


class OpenEffect(NamedTuple):
    """An effect that may be in a reading or not; `amount` in rupiah, signed: what it does to the balance."""

    effect: Effect
    amount: int
    is_parked: bool


class _In(StrEnum):
    """Whether an effect is in a reading."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


def blocking(reading: Reading, live: Sequence[Spending]) -> list[str]:
    """The orders sent before the reading's end whose part in it will be known later."""
    return [
        spending.ref_id
        for spending in live[: bisect_right(live, reading.received_at, key=lambda spending: spending.sent_at)]
        if not spending.is_final
        and not spending.is_parked
        and spending.charged is not False
        and not _had_no_refund(spending, reading)
    ]


def split(state: State, reading: Reading, live: Sequence[Spending]) -> tuple[int, list[OpenEffect]]:
    """The reading minus everything that is certainly in it, and the effects that may be in it."""
    rest = reading.balance - state.base
    open_effects: list[OpenEffect] = []
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
                open_effects.append(OpenEffect(Effect(spending.ref_id, part), amount, spending.is_parked))
    return rest, open_effects


def still_possible(stories: Sequence[Story], live: Sequence[Spending]) -> list[Story]:
    """The stories in which nothing has happened that certainly never did."""
    named = {effect.ref_id for story in stories for effect in story.happened}
    never = {
        Effect(spending.ref_id, part)
        for spending in live
        for part, happens in ((Part.DEBIT, spending.charged), (Part.REFUND, spending.refunded))
        if spending.ref_id in named and (happens is False or spending.charged is False)
    }
    return [story for story in stories if never.isdisjoint(story.happened)]


def settle(state: State, reading: Reading, live: list[Spending]) -> tuple[State, list[Spending], list[str]]:
    """Take the orders into the base whose every effect is certain for this reading and so for all later ones."""
    base = state.base
    still_live: list[Spending] = []
    settled: list[str] = []
    for index, spending in enumerate(live):
        if spending.sent_at > reading.received_at:
            still_live += live[index:]
            break
        if not spending.is_final or not _is_certain(spending, reading):
            still_live.append(spending)
            continue
        settled.append(spending.ref_id)
        base -= spending.amount if spending.charged else 0
        base += spending.amount if spending.refunded else 0
    return replace(state, base=base), still_live, settled


def _had_no_refund(spending: Spending, reading: Reading) -> bool:
    """Whether the order was accepted, and the upstream said "pending" when asked after the reading."""
    return (
        spending.charged is True
        and spending.pending_seen_at is not None
        and spending.pending_seen_at >= reading.received_at
    )


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


def _is_certain(spending: Spending, reading: Reading) -> bool:
    if spending.charged is None or spending.known_at is None or spending.known_at >= reading.sent_at:
        return False
    if not spending.charged or spending.refunded is False:
        return True
    return spending.refund_known_at is not None and spending.refund_known_at < reading.sent_at
