"""Approvals as the pages show them to one person."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext as _

from approvals.acts import CUSTOMER_WAITS, Line, act_named
from approvals.models import Approval, ApprovalState
from approvals.services import why_not_approved_by
from core import clock
from core.errors import Refused
from core.money import rupiah
from core.notation import in_groups
from core.numbers import (
    FIELDS,
    ErasedText,
    erased_serial,
    masked,
    note_as_seen,
    numbers_in,
    sees_whole,
    sees_whole_numbers,
    text_as_seen,
)
from core.rights import Right, Role
from core.times import short_time
from staff.models import User


@dataclass(frozen=True)
class Change:
    """One fact that has changed since the request."""

    name: str
    label: Any
    before: str
    after: str


@dataclass(frozen=True)
class ShownApproval:
    """An approval with what it would do, for `person`."""

    approval: Approval
    person: User
    #: The changes that would make an open approval void now, in the form of `Approval.changes`
    #: (`services.changes_seen`).
    found: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_void_now(self) -> bool:
        """Whether it is open, and could not be approved as things are."""
        return self.approval.is_open and bool(self.found)

    @property
    def state(self) -> ApprovalState:
        """Its state; void also when it would be void now."""
        return ApprovalState.VOID if self.is_void_now else ApprovalState(self.approval.state)

    @property
    def why_void(self) -> str:
        """The reason why it is void, in one line for lists."""
        return self.void_words or _("It has changed since it was asked for.")

    @property
    def void_code(self) -> str:
        """The reason why it is void, as a code: the refusal's, or "changed"."""
        return str(self._changes.get("code", "changed"))

    @property
    def label(self) -> Any:
        act = act_named(self.approval.act)
        return act.label if act else self.approval.act

    @property
    def about(self) -> str:
        """The subject as people know it, with the number as the viewer may see it."""
        act = act_named(self.approval.act)
        about = self.as_seen(act.about(self.approval) if act else self.approval.about or self.approval.subject)
        for number in numbers_in(self.approval.facts):
            if number.startswith("08"):
                about = about.replace(number, in_groups(number, "-"))
        return about

    def as_seen(self, text: str) -> str:
        """A text that may hold the number of its subject, as the viewer may see it."""
        return text_as_seen(text, *numbers_in(self.approval.facts))

    @property
    def reason(self) -> str:
        return self._note_as_seen(self.approval.reason)

    @property
    def decision_reason(self) -> str:
        return self._note_as_seen(self.approval.decision_reason)

    def _note_as_seen(self, text: str) -> str:
        return note_as_seen(text_as_seen(text, *self._numbers))

    @cached_property
    def _numbers(self) -> list[str]:
        """The customers' numbers that its texts may hold; an order's number takes a statement."""
        act = act_named(self.approval.act)
        return [*numbers_in(self.approval.facts), *(act.numbers(self.approval) if act else ())]

    @property
    def is_over_time(self) -> bool:
        """Whether its time is over and it is not closed yet: nobody can decide it any more."""
        return self.approval.is_open and self.approval.expires_at <= clock.now()

    @property
    def badge(self) -> SafeString:
        """Its state as icon, word and colour; expired as soon as its time is over."""
        return (ApprovalState.EXPIRED if self.is_over_time else self.state).badge

    @cached_property
    def lines(self) -> list[Line]:
        """Exactly what will happen, without what this person may not see."""
        lines = [line for line in lines_of(self.approval.act, self.approval.facts) if self._sees(line)]
        return [line._replace(value=self._value_as_seen(line)) for line in lines]

    def _value_as_seen(self, line: Line) -> str:
        """Its value as the viewer may see it; for an erased customer, an SN without the name that may follow it."""
        erased = next((number for number in self._numbers if isinstance(number, ErasedText)), None)
        value = erased_serial(line.value, erased) if line.name == "sn" and erased else line.value
        return self._note_as_seen(value) if line.is_note else text_as_seen(value, *self._numbers)

    @property
    def shows_digest(self) -> bool:
        """Whether the digest of the content may be shown: what is hidden in the content could be found by trying."""
        is_whole = sees_whole_numbers() or not any(line.is_note for line in self.lines)
        return is_whole and all(map(sees_whole, self._numbers)) and self.person.has_perm(Right.VIEW_COST)

    @property
    def amount(self) -> int | None:
        """Rupiah that it moves, for people who may see it; None when it moves none."""
        act = act_named(self.approval.act)
        if act is None or (act.moves_cost and not self.person.has_perm(Right.VIEW_COST)):
            return None
        return act.amount(self.approval.facts)

    @property
    def shown_amount(self) -> str:
        """The amount in rupiah; empty without one."""
        return "" if self.amount is None else rupiah(self.amount)

    @property
    def answer_by(self) -> dt.datetime | None:
        """Until when an open request needs an answer because a customer may wait; None for all others."""
        act = act_named(self.approval.act)
        if not (self.approval.is_open and act and act.keeps_customer):
            return None
        return min(self.approval.asked_at + CUSTOMER_WAITS, self.approval.expires_at)

    @property
    def is_late(self) -> bool:
        """Whether a customer still waits for an answer that was due before now."""
        return self.answer_by is not None and self.answer_by <= clock.now()

    @property
    def answer_words(self) -> str:
        """The words for `answer_by`, or for how long the answer is late; empty without one."""
        if self.answer_by is None:
            return ""
        words = _("answer by %(time)s") if not self.is_late else _("the answer is late, it was due by %(time)s")
        return words % {"time": short_time(self.answer_by)}

    @property
    def asked_role(self) -> Any:
        return role_label(self.approval.asked_role)

    @property
    def decided_role(self) -> Any:
        return role_label(self.approval.decided_role)

    @property
    def url(self) -> str:
        """The page of its subject, or of its result."""
        act = act_named(self.approval.act)
        return act.url(self.approval) if act else ""

    @property
    def is_own(self) -> bool:
        """Whether the person asked."""
        return self.approval.is_of(self.person)

    @property
    def may_approve(self) -> bool:
        """Whether the person may try to approve it."""
        return self.approval.is_open and not self.is_void_now and self.why_not is None

    @cached_property
    def why_not(self) -> Refused | None:
        """The reason why this person may not approve an open approval."""
        return why_not_approved_by(self.approval, self.person) if self.approval.is_open else None

    @property
    def may_refuse(self) -> bool:
        """Whether the person may refuse it: everybody who holds the right to approve it, except the asker."""
        act = act_named(self.approval.act)
        has_right = self.person.has_perm(act.may_approve) if act else self.person.is_superuser
        return self.approval.is_open and has_right and not self.is_own

    @property
    def factor_act(self) -> str:
        """The act for the field of the second factor."""
        act = act_named(self.approval.act)
        return act.code if act else ""

    @property
    def void_words(self) -> str:
        """The reason why a void approval could not be done any more; empty if its facts had changed.

        Stored words exist in each language; words found now, or stored by an older version, are one text.
        """
        words = self._changes.get("words", "")
        return self.as_seen(str(words.get(get_language(), "")) if isinstance(words, dict) else str(words))

    @cached_property
    def changes(self) -> list[Change]:
        """The facts that made it void, as they were asked for and as they were found."""
        pairs = {name: pair for name, pair in self._changes.items() if isinstance(pair, list)}
        before = self._named({name: pair[0] for name, pair in pairs.items()})
        after = self._named({name: pair[1] for name, pair in pairs.items()})
        return [
            Change(name, line.label, line.value, after[name].value) for name, line in before.items() if self._sees(line)
        ]

    @property
    def _changes(self) -> Mapping[str, Any]:
        return self.found if self.is_void_now else self.approval.changes

    def _sees(self, line: Line) -> bool:
        return not line.is_cost or self.person.has_perm(Right.VIEW_COST)

    def _named(self, some: dict[str, Any]) -> dict[str, Line]:
        facts = self.approval.with_erased(self.approval.facts | some)
        lines = {line.name: line for line in lines_of(self.approval.act, facts)}
        # A value without words may be a digest of costs.
        return {name: lines.get(name, Line(name, name, str(value), is_cost=True)) for name, value in some.items()}


def lines_of(act_name: str, content: dict[str, Any]) -> list[Line]:
    """The content in words; if this version does not know the act, its names and values."""
    act = act_named(act_name)
    lines = act.lines(content) if act else [Line(name, name, str(value)) for name, value in content.items()]
    return [
        line._replace(value=masked(line.value)) if line.name in FIELDS and not sees_whole(content[line.name]) else line
        for line in lines
    ]


def role_label(role: str) -> Any:
    """The label of a stored role."""
    return Role(role).label if role in Role.values else role
