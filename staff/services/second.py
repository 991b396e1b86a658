"""A change that lets somebody do more takes a second person, where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.rights import Right
from staff.models import BREAK_GLASS, User
from staff.roles import rank_of
from staff.services.independence import Hands

NOBODY: Mapping[str, object] = {"approved_by": None, "alone": False}  # of a change that takes no second person


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something about people that lets somebody do more.

    `act`: its name among the approvals. `content`: all of it, of JSON values. `right`, `rank`: the right and the least
    rank of the second person. `person`: the key of the person it is about, who cannot be the second one.
    """

    act: str
    subject: str
    about: str
    content: Mapping[str, Any]
    right: Right
    rank: int
    person: int | None = None


class NeedsSecond(Exception):
    """Nothing was changed: a colleague has to approve the change first."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.about)
        self.change = change


def needs_second(change: Change, *, actor: User) -> bool:
    """Whether an independent colleague of the actor could approve it: then the actor may not do it alone."""
    hands = Hands.read()
    return any(not hands.between(actor, colleague) for colleague in colleagues_for(change) if colleague != actor)


def colleagues_for(change: Change) -> list[User]:
    """All people with the right to approve the change; the emergency account does not count."""
    holders = User.objects.holding(change.right).exclude(username=BREAK_GLASS)
    return [colleague for colleague in holders.prefetch_related("groups") if may_second(change, colleague)]


def settle(change: Change, *, actor: User | None, approved_by: User | None) -> Mapping[str, object]:
    """The approver of the change, for the audit; `alone` when it took a second person and nobody could be it.

    `actor`: None for a command. Raises `NeedsSecond` when a colleague could approve it but has not.
    """
    if actor is not None and approved_by is None and needs_second(change, actor=actor):
        raise NeedsSecond(change)
    return {"approved_by": approved_by.pk if approved_by else None, "alone": actor is not None and approved_by is None}


def may_second(change: Change, colleague: User) -> bool:
    """Whether this person is somebody who may approve that of others."""
    return (
        colleague.is_active
        and colleague.has_joined
        and colleague.pk != change.person
        and rank_of(colleague) >= change.rank
        and colleague.has_perm(change.right)
    )
