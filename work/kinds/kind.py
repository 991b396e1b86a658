"""The base of every kind of work: its words, its rights, its rows, and the lines of its rows."""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import BooleanField, DateTimeField, ExpressionWrapper, F, QuerySet, Value
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from core.looks import badge
from core.rights import Right
from staff.models import User

# Colours of the badge; the most severe first.
_COLOURS = ("bad", "warn", "unknown", "held", "pending", "queued")


@dataclass(frozen=True)
class Moment:
    """The values of the queries for rows; in a query that is made once and run often, each is a `Given`."""

    person: Any  # key of a person
    lately: Any
    verdict_from: Any
    today: Any


@dataclass(frozen=True)
class Scope:
    """The work that a person may see and do, in a form that is the key of cached queries.

    `sees`, `does`: codes of kinds. `acts`: the approvals that this person may decide. `asks`: those that the person may
    ask for. `sees_all`: all approvals, also those of others. `resolves`: everybody's orders, not only the own ones.
    `acknowledges`: money that was added at the upstream. `branch`: the key of the only branch that is seen; None: all.
    """

    sees: tuple[str, ...]
    does: frozenset[str]
    acts: tuple[str, ...]
    asks: tuple[str, ...]
    sees_all: bool
    resolves: bool
    acknowledges: bool
    branch: int | None


@dataclass(frozen=True)
class Line:
    """The content of one row: its subject, as a link to the place of the step, more about it, and rupiah.

    `number`: the customer's, where the subject is the product; the overview leaves it out. `step`: the step for this
    row, if it is not that of its kind. `at_once`: the words and address of a step on another page than that of the row.
    `does`: the rights of which one is enough for it, if not those of its kind. `doers`: the names of people who can do
    it, if no right says that. `why`: the reason why it waits. `urgent`: the reason why it cannot wait, in red. `state`:
    the badge of this row, if it is not that of its kind. `waits`: people cannot decide it until it is due.
    """

    subject: str
    url: str
    about: Any = ""
    number: Any = ""
    why: str = ""
    urgent: str = ""
    amount: str = ""
    step: str = ""
    at_once: tuple[str, str] = ("", "")
    does: tuple[Right, ...] = ()
    doers: str = ""
    state: str = ""
    waits: bool = False


class WorkKind(ABC):
    """One kind. `code` names it in addresses; `step`: the step of a person, on a button.

    `one`: the words for one row, if `words` say more; the list's filter uses them, too. `counted`: the words for a
    number of rows, with `% {"n": 2}`. `sees`: every right that opens its pages. `does`: any of these is enough to do
    it. `within`: the time for which it may wait. `branch`: the way from a row to its branch; empty for work that
    belongs to no branch. `every`: the name of the list that has the finished ones, too, and its URL query;
    `every_words`: the words of its link. `says_none`: if there is none (`is_none`), the list says so to
    people who can do such work.
    """

    code: ClassVar[str]
    words: ClassVar[str | Promise]
    step: ClassVar[str | Promise]
    one: ClassVar[str | Promise] = ""
    counted: ClassVar[Any]
    look: ClassVar[tuple[str, str]]
    sees: ClassVar[tuple[Right, ...]]
    does: ClassVar[tuple[Right, ...]]
    within: ClassVar[dt.timedelta] = dt.timedelta(days=1)
    branch: ClassVar[str] = ""
    every: ClassVar[tuple[str, str]] = ("", "")
    every_words: ClassVar[str | Promise] = _("All, also finished")
    #: The filter that leaves only open rows in that list.
    open_query: ClassVar[str] = ""
    says_none: ClassVar[bool] = False

    @property
    def shown(self) -> str | Promise:
        """Its name in the list, on a row and on the filter."""
        return self.one or self.words

    @property
    def badge(self) -> SafeString:
        """The badge of a row: its words, icon and colour."""
        return badge(self.look, self.shown)

    @property
    def severity(self) -> int:
        """The place of its colour; 0 is the most severe."""
        return _COLOURS.index(self.look[1])

    @property
    def every_url(self) -> str:
        """The address of the list with the finished ones; empty without one."""
        name, query = self.every
        return f"{reverse(name)}{query}" if name else ""

    def may_see(self, person: User) -> bool:
        """Whether this person sees such work."""
        return person.has_perms(self.sees)

    def may_do(self, person: User) -> bool:
        """Whether this person can do such work, though perhaps not every row."""
        return any(person.has_perm(right) for right in self.does)

    def is_none(self) -> bool:
        """Whether nothing of it is open when it has no row."""
        return True

    @abstractmethod
    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """The rows that wait, each with `since`: the time since which it waits."""

    @abstractmethod
    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The lines of these rows for this person, by their keys."""

    def due(self) -> Any:
        """The time by which a row should be done."""
        return ExpressionWrapper(F("since") + Value(self.within), output_field=DateTimeField())

    def for_person(self, moment: Moment, scope: Scope) -> Any:
        """The condition that a row is for this person: every row, if the person can do such work."""
        return Value(self.code in scope.does, output_field=BooleanField())
