"""The acts that a second person can approve. Each room registers its acts in `services/acts.py`.

Nothing here imports these rooms.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

from django.db.models import QuerySet
from django.utils.functional import Promise

from approvals.models import Approval, Content
from core.parts import discover
from core.rights import Right
from staff.models import User

#: A customer who may wait in the shop gets an answer within this time; it can still be approved after it.
CUSTOMER_WAITS = dt.timedelta(minutes=15)

_ACTS: dict[str, Act] = {}
A = TypeVar("A", bound="Act")


class Line(NamedTuple):
    """One fact of a content as people read it. `several`: the values of a list, one by one.

    `is_note`: a person's words, which may hold anybody's number.
    """

    name: str
    label: str | Promise
    value: str
    is_cost: bool = False  # for people who may see costs
    several: tuple[str, ...] = ()
    is_note: bool = False


@dataclass(frozen=True)
class Seen:
    """The rows for pages that show open approvals: read at one moment, without locks.

    `people`: the askers and the subjects, with their rights. `answers`: the rows of `Act.questions`. `is_alone`: only
    one approval is shown, so that its act may read more.
    """

    people: Mapping[int, User]
    answers: Sequence[Sequence[Any]]
    is_alone: bool


class Act(ABC):
    """Something that happens only with a second person's approval.

    `name` is kept with each approval and never changes. `may_ask`, `may_approve`: rights. `moves_cost`: its `amount` is
    what the shop pays or has, for people who may see costs. `keeps_customer`: a customer may wait in the shop for the
    decision.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    may_ask: ClassVar[Right]
    may_approve: ClassVar[Right]
    moves_cost: ClassVar[bool] = False
    keeps_customer: ClassVar[bool] = False

    def may_be_asked_by(self, person: User) -> bool:
        """Whether this person may ask now; it is checked again at the moment of the approval."""
        return person.has_perm(self.may_ask)

    @abstractmethod
    def content_now(self, approval: Approval) -> Content:
        """The content that would be sent or posted now, read under the locks of `execute`; call it in a transaction.

        Raises `core.errors.Refused` when the act is impossible by now: then the approval is void.
        """

    @abstractmethod
    def execute(self, approval: Approval, *, approver: User) -> str:
        """Execute the approved content, in the approval's own transaction; return the result, for example a ref_id.

        Raises `core.errors.Refused` when it cannot be done at the moment: then nothing has happened, and the approval
        stays open. Nothing goes over the network here.
        """

    def branch_of(self, content: Content, asker: User) -> int | None:
        """The key of the branch that this content belongs to; None: the whole shop."""
        return None

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        """The queries that `content_seen` needs for these; one statement reads those of all acts of a page."""
        return []

    def people_in(self, content: Content) -> set[int]:
        """The keys of the people that the content is about; `Seen` has them."""
        return set()

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The cheap part of the result of `content_now`, read without locks: only for pages.

        Raises `core.errors.Refused` when `content_now` would.
        """
        return approval.facts

    def lines(self, content: Content) -> list[Line]:
        """The content in the person's words, what matters first."""
        return [Line(name, name, str(value)) for name, value in content.items()]

    def numbers(self, approval: Approval) -> Collection[str]:
        """The customers' numbers that its texts may hold, besides those of its content."""
        return ()

    def about(self, approval: Approval) -> str:
        """The subject, for lists; words of ours are in the reader's language."""
        return approval.about or approval.subject

    def amount(self, content: Content) -> int | None:
        """Rupiah that it moves (signed); None when it moves none."""
        return None

    def url(self, approval: Approval) -> str:
        """The page of its subject or its result; empty without one."""
        return ""

    def refuse_approver(self, approval: Approval, person: User) -> None:  # noqa: B027 - most acts refuse nobody else
        """Raise `Refused` when this person, who holds `may_approve`, may not approve this very content."""

    def ended(self, approval: Approval) -> None:  # noqa: B027 - most acts leave nothing behind
        """Tidy up after a refusal, a withdrawal, an expiry or a void; called in that transaction."""

    def expires_at(self, content: Content, latest: dt.datetime) -> dt.datetime:
        """The time until which it may be approved, at most `latest`."""
        return latest

    @property
    def code(self) -> str:
        """The act's name for the second factor and the audit."""
        return f"approve:{self.name}"


def register(act: type[A]) -> type[A]:
    """Make the act known: a decorator of its class."""
    _ACTS[act.name] = act()
    return act


def act_named(name: str) -> Act | None:
    """The act of this name; None when this version has none."""
    discover("services.acts")
    return _ACTS.get(name)


def all_acts() -> dict[str, Act]:
    """Every act by its name."""
    discover("services.acts")
    return dict(_ACTS)


def acts_approved_by(person: User) -> list[str]:
    """The names of the acts that this person may approve when others ask."""
    return [name for name, act in all_acts().items() if person.has_perm(act.may_approve)]


def acts_that_keep_a_customer() -> list[str]:
    """The names of the acts for which a customer may wait in the shop."""
    return [name for name, act in all_acts().items() if act.keeps_customer]


def acts_asked_by(person: User) -> list[str]:
    """The names of the acts that this person may ask for."""
    return [name for name, act in all_acts().items() if person.has_perm(act.may_ask)]
