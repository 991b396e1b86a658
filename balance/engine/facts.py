"""What the engine is told, what it remembers, and what it tells. All amounts in whole rupiah."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


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
    `exact`: the sum of outside changes that were found; it was last certain at `exact_at`. `changed_at`: when a change
    was first proven whose amount is not known yet. `upto`: the end of the last reading that was looked at;
    `compared_upto`: of the last one that was not left out.
    """

    base: int
    upto: dt.datetime
    compared_upto: dt.datetime
    exact: int
    exact_at: dt.datetime
    outside: dict[int, frozenset[Explanation]] | None = field(default_factory=dict)
    changed_at: dt.datetime | None = None

    @classmethod
    def opened(cls, *, balance: int, at: dt.datetime) -> State:
        """Start with the books' opening `balance` (rupiah), true of a reading that ended `at`."""
        return cls(base=balance, upto=at, compared_upto=at, exact=0, exact_at=at, outside={0: frozenset({frozenset()})})

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
            "compared_upto": self.compared_upto.isoformat(),
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
            # States of earlier versions did not tell the two apart.
            compared_upto=dt.datetime.fromisoformat(stored.get("compared_upto", stored["upto"])),
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
