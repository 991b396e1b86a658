"""What the engine is told, what it remembers, and what it tells. All amounts in whole rupiah."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
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


class Story(NamedTuple):
    """One way in which everything up to a reading may have come about, told with the fewest outside changes.

    `outside`: the sum of all outside changes, in rupiah. `happened`: the effects that were open then and had happened.
    `surprises`: how many outside changes it needs that are not found yet, and `changes` their amounts in order; None
    when it can be told with different ones.
    """

    outside: int
    happened: frozenset[Effect] = frozenset()
    surprises: int = 0
    changes: tuple[int, ...] | None = ()

    def to_json(self) -> list[Any]:
        """For a JSON column."""
        happened = [list(effect) for effect in sorted(self.happened)]
        return [self.outside, happened, self.surprises, None if self.changes is None else list(self.changes)]

    @classmethod
    def from_json(cls, stored: list[Any]) -> Story:
        """The inverse of `to_json`."""
        outside, happened, surprises, changes = stored
        return cls(
            outside=outside,
            happened=frozenset(Effect(ref_id, Part(part)) for ref_id, part in happened),
            surprises=surprises,
            changes=None if changes is None else tuple(changes),
        )


@dataclass(frozen=True, kw_only=True)
class State:
    """What one run hands to the next.

    `base`: opening balance with every settled order. `stories`: those that explain all readings so far with the fewest
    outside changes, or with one more, fewest first. `is_partial`: some with one change more were too many to be kept.
    `is_lost`: even the likeliest were, so that the next clear reading has to start anew. `exact`: the sum of outside
    changes that were found; it was last certain at `exact_at`. `changed_at`: when a change was first proven whose
    amount is not known yet. `upto`: the end of the last reading that was looked at; `compared_upto`: of the last one
    that could be compared.
    """

    base: int
    upto: dt.datetime
    compared_upto: dt.datetime
    exact: int
    exact_at: dt.datetime
    stories: tuple[Story, ...]
    is_partial: bool = False
    is_lost: bool = False
    changed_at: dt.datetime | None = None

    @classmethod
    def opened(cls, *, balance: int, at: dt.datetime) -> State:
        """Start with the books' opening `balance` (rupiah), true of a reading that ended `at`."""
        return cls(base=balance, upto=at, compared_upto=at, exact=0, exact_at=at, stories=(Story(outside=0),))

    @property
    def likeliest(self) -> tuple[Story, ...]:
        """The stories with the fewest outside changes."""
        return tuple(story for story in self.stories if story.surprises == self.stories[0].surprises)

    @property
    def undecided(self) -> list[int]:
        """The amounts (rupiah) that proven outside changes may sum up to, while that is open; empty otherwise."""
        if self.changed_at is None or self.is_lost:
            return []
        return sorted({story.outside - self.exact for story in self.likeliest})

    @property
    def undecided_by(self) -> list[str]:
        """The orders whose effects a proven outside change could not be told from yet."""
        if self.changed_at is None:
            return []
        return sorted({effect.ref_id for story in self.likeliest for effect in story.happened})

    def to_json(self) -> dict[str, Any]:
        """For a JSON column."""
        return {
            "base": self.base,
            "upto": self.upto.isoformat(),
            "compared_upto": self.compared_upto.isoformat(),
            "exact": self.exact,
            "exact_at": self.exact_at.isoformat(),
            "stories": [story.to_json() for story in self.stories],
            "is_partial": self.is_partial,
            "is_lost": self.is_lost,
            "changed_at": self.changed_at.isoformat() if self.changed_at else None,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> State:
        """The inverse of `to_json`. An earlier version stored no stories: the next clear reading starts anew."""
        stories, changed_at = stored.get("stories"), stored["changed_at"]
        return cls(
            base=stored["base"],
            upto=dt.datetime.fromisoformat(stored["upto"]),
            compared_upto=dt.datetime.fromisoformat(stored.get("compared_upto", stored["upto"])),
            exact=stored["exact"],
            exact_at=dt.datetime.fromisoformat(stored["exact_at"]),
            stories=tuple(Story.from_json(story) for story in stories or [[stored["exact"], [], 0, []]]),
            is_partial=stored.get("is_partial", True),
            is_lost=stored.get("is_lost", not stories),
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
