"""The base of every kind of alert. The kinds themselves are the other files of this folder, one each."""

import datetime as dt
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, TypeVar

from django.db.models import Model, QuerySet

from alerts.models import Severity
from audit.models import Sealing
from bank.models import BankFile
from catalogue.models import CatalogueSync, Category, Product
from core import clock as database_clock
from core.times import clock
from core.together import read_together
from earnings.models import SummedDay
from gateway.models import Exchange, UpstreamAccount
from ledger.models import Books, Proof
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services import compared_reading, unexplained_differences
from staff.models import User

Facts: TypeAlias = dict[str, Any]
# None: the readers of a message.
Person: TypeAlias = User | None
M = TypeVar("M", bound=Model)


class Now:
    """The moment of an evaluation, with the rows that the kinds need: read once, in one statement."""

    def __init__(self) -> None:
        self.time = database_clock.now()

    @cached_property
    def _rows(self) -> dict[type[Model], list[Any]]:
        questions: list[QuerySet[Any]] = [
            UpstreamAccount.objects.all(),
            Books.objects.all(),
            Proof.objects.all(),
            Sealing.objects.all(),
            compared_reading(),
            unexplained_differences(),
            ReconciliationRun.objects.all()[:1],
            Product.objects.below_cost(),
            Category.objects.asking(),
            CatalogueSync.objects.filter(result=CatalogueSync.Result.DONE)[:1],
            SummedDay.objects.filter(off_by__gt=0).order_by("day")[:31],
            BankFile.objects.order_by("-pk")[:1],
        ]
        return {question.model: rows for question, rows in zip(questions, read_together(*questions), strict=True)}

    def the(self, model: type[M]) -> M:
        """The one row of this model; an unsaved one if there is no row yet."""
        return next(iter(self._rows[model]), model())

    @property
    def compared_at(self) -> dt.datetime | None:
        """The time at which the upstream reported the newest balance that was compared."""
        return self.the(Exchange).answered_at

    @property
    def differences(self) -> list[Difference]:
        """The open differences that are no top-up."""
        return self._rows[Difference]

    @property
    def below_cost(self) -> list[Product]:
        """The products that sell for less than they cost, the largest loss first."""
        return self._rows[Product]

    @property
    def categories_asking(self) -> list[Category]:
        """The categories with products whose kind of number the shop has to say."""
        return self._rows[Category]

    @property
    def products_left_out(self) -> list[str]:
        """The products that the last catalogue left out, because their rows could not be used."""
        return self.the(CatalogueSync).left_out_names

    @property
    def wrong_days(self) -> list[SummedDay]:
        """The days whose sums the last proof found wrong."""
        return self._rows[SummedDay]


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A reason for an open alert: its `key`, its severity, and the facts that its text names (JSON)."""

    key: str = ""
    severity: Severity = Severity.WARNING
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Words:
    """An alert in words. `url`: the page of its next step, without the host; empty if it is outside these pages."""

    title: str
    facts: str
    next_step: str
    url: str = ""


class AlertKind(ABC):
    """A kind of alert; its `code` is the name of its file.

    `permission`: the alert concerns people who hold it. `is_in_banner`: the banner about the upstream already says the
    same. `of_branch`: its facts name its branch (`branch`, the key); without one, only people who see all branches see
    it.
    """

    code: ClassVar[str]
    permission: ClassVar[str]
    is_in_banner: ClassVar[bool]
    of_branch: ClassVar[bool]

    def __init_subclass__(cls, *, permission: str, is_in_banner: bool = False, of_branch: bool = False) -> None:
        cls.code = cls.__module__.rpartition(".")[2]
        cls.permission, cls.is_in_banner, cls.of_branch = permission, is_in_banner, of_branch

    @abstractmethod
    def reasons(self, now: Now) -> list[Reason]:
        """Every reason for an alert of this kind that stands now."""

    def grade(self, facts: Facts) -> int:
        """The rank within its severity; higher is worse. A hidden alert that becomes worse is shown again."""
        return 0

    @abstractmethod
    def words(self, facts: Facts, person: Person) -> Words:
        """Its words for this person, in the active language; the next step is one that the linked page offers them.

        `facts` may lack what an older version did not store.
        """


def may(person: Person, permission: str) -> bool:
    """Whether the person holds this right; always true for the readers of a message."""
    return person is None or person.has_perm(permission)


def at(facts: Facts, name: str) -> str:
    """The moment `facts[name]` in the shop's time and the active language; a dash when it is not known."""
    return clock(dt.datetime.fromisoformat(facts[name])) if facts.get(name) else "–"
