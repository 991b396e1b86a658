"""What every kind of alert has. The kinds themselves are the other files of this folder, one each."""

import datetime as dt
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from alerts.models import Severity
from core.times import clock
from staff.models import User

Facts: TypeAlias = dict[str, Any]
# None: whoever gets a message.
Person: TypeAlias = User | None


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why an alert is to be open: which one (`key`), how grave, and what its text names (JSON)."""

    key: str = ""
    severity: Severity = Severity.WARNING
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Words:
    """An alert in words. `url`: where its next step is, without the host; empty when that is outside these pages."""

    title: str
    facts: str
    next_step: str
    url: str = ""


class AlertKind(ABC):
    """A kind of alert; its `code` is the name of its file.

    `permission`: it concerns those who hold it. `is_in_banner`: the banner about the upstream says it already.
    """

    code: ClassVar[str]
    permission: ClassVar[str]
    is_in_banner: ClassVar[bool]

    def __init_subclass__(cls, *, permission: str, is_in_banner: bool = False) -> None:
        cls.code = cls.__module__.rpartition(".")[2]
        cls.permission, cls.is_in_banner = permission, is_in_banner

    @abstractmethod
    def reasons(self, now: dt.datetime) -> list[Reason]:
        """Every reason for an alert of this kind that stands now."""

    @abstractmethod
    def words(self, facts: Facts, person: Person) -> Words:
        """What it says to this person, in the active language; the next step is one that the linked page offers them.

        `facts` may lack what an older version did not store.
        """


def may(person: Person, permission: str) -> bool:
    """Whether the person may do that; a message says what somebody may."""
    return person is None or person.has_perm(permission)


def at(facts: Facts, name: str) -> str:
    """The moment `facts[name]` in the shop's time and the active language; a dash when it is not known."""
    return clock(dt.datetime.fromisoformat(facts[name])) if facts.get(name) else "–"
