"""A change that lets a person do more takes a second person, if there is one.

Each such change of an account or a role is the content of an approval.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.rights import NEEDS_TWO, OF_ROLES, Right, Role
from staff.models import BREAK_GLASS, User
from staff.roles import rank_of, rights_by_role, role_of
from staff.services.independence import Hands
from staff.services.limits import limits_of, limits_of_roles

NOBODY: Mapping[str, object] = {"approved_by": None, "alone": False}  # for a change that takes no second person
MORE_TO_SPEND = "limits"  # among the gained rights when the limits rise
_SPENDS = {Right.BUY, Right.CHECK_BILLS, "*"}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of an account or a role that lets people do more.

    `act`: its name among the approvals. `content`: all of it, of JSON values. `right`, `rank`: the right and the least
    rank of the second person. `person`: the key of the changed person, who cannot be the second one. `branch`: the key
    of the branch of that person, or of a new one; None: the whole shop.
    """

    act: str
    subject: str
    about: str
    content: Mapping[str, Any]
    right: Right
    rank: int
    person: int | None = None
    branch: int | None = None


class NeedsSecond(Exception):
    """Nothing was changed: a colleague has to approve the change first."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.about)
        self.change = change


def needs_second(change: Change, *, actor: User) -> bool:
    """Whether an independent colleague of the actor could approve the change: then the actor may not make it alone."""
    hands = Hands.read()
    return any(not hands.between(actor, colleague) for colleague in colleagues_for(change) if colleague != actor)


def colleagues_for(change: Change) -> list[User]:
    """All people with the right to approve the change; the emergency account does not count."""
    holders = User.objects.holding(change.right).exclude(username=BREAK_GLASS)
    return [colleague for colleague in holders.prefetch_related("groups") if may_second(change, colleague)]


def settle(change: Change, *, actor: User | None, approved_by: User | None) -> Mapping[str, object]:
    """The approver of the change, for the audit; `alone` if the change takes a second person and there is none.

    `actor`: None for a command. Raises `NeedsSecond` when a colleague could approve it but has not.
    """
    if actor is not None and approved_by is None and needs_second(change, actor=actor):
        raise NeedsSecond(change)
    return {"approved_by": approved_by.pk if approved_by else None, "alone": actor is not None and approved_by is None}


def may_second(change: Change, colleague: User) -> bool:
    """Whether this person sees such a change and may approve it if others ask for it."""
    return (
        colleague.is_active
        and colleague.has_joined
        and colleague.pk != change.person
        and (change.branch is None or colleague.bound_to in {None, change.branch})
        and rank_of(colleague) >= change.rank
        and colleague.has_perm(change.right)
    )


def role_change(person: User, role: Role, *, gains: list[str] | None = None) -> Change:
    """The change of giving this person a role; the content has the rights that it adds (`gains`, if they are known)."""
    before = role_of(person)
    content = {
        "before": before.value if before else "",
        "after": role.value,
        "gains": gained_rights(person, role) if gains is None else gains,
    }
    change = _change_of(person, act="role", content=content, right=Right.MANAGE_STAFF)
    return replace(change, rank=max(change.rank, role.rank))


def _change_of(person: User, *, act: str, content: Mapping[str, Any], right: Right) -> Change:
    """A change of this person's account; `content`: the facts beside the person."""
    return Change(
        act=act,
        subject=f"person:{person.pk}",
        about=person.shown_name,
        content={"person": person.pk, "username": person.username, **content},
        right=right,
        rank=rank_of(person),
        person=person.pk,
        branch=person.branch_id,
    )


def outside_role(person: User, role: Role, *, gains: list[str] | None = None) -> Change:
    """Giving this person the role that the provider says; as `role_change`."""
    change = role_change(person, role, gains=gains)
    return replace(change, act="outside_role", subject=f"outside:{person.pk}:{role.value}")


def limit_change(
    person: User, before: Mapping[str, int | None], after: Mapping[str, int | None], holds: Mapping[str, int | None]
) -> Change:
    """The change of giving this person own limits; `holds`: the limits that the person would have."""
    role = role_of(person)
    content = {"role": role.value if role else "", "before": before, "after": after, "holds": holds}
    return _change_of(person, act="limits", content=content, right=Right.CHANGE_LIMITS)


def role_edit(role: Role, before: Mapping[str, object], after: Mapping[str, object]) -> Change:
    """A change of a role; `before` and `after` hold its rights and limits."""
    return Change(
        act="role_rights",
        subject=f"role:{role.value}",
        about=role.value,
        content={"role": role.value, "before": before, "after": after},
        right=Right.CHANGE_ROLES,
        rank=Role.OWNER.rank,
    )


def invitation(username: str, role: Role, facts: Mapping[str, Any]) -> Change:
    """A new person of this role; `facts`: as `invite` takes them."""
    username = User.normalize_username(username)
    return Change(
        act="invite",
        subject=f"invite:{username.casefold()}",
        about=facts.get("full_name") or username,
        content={"username": username, "role": role.value, "facts": dict(facts), "rights": sorted(rights_of(role))},
        right=Right.MANAGE_STAFF,
        rank=role.rank,
        branch=facts.get("branch"),
    )


def switching_on(person: User) -> Change:
    """An account that is switched on again with the role that it has."""
    role = role_of(person)
    content = {"role": role.value if role else "", "rights": sorted(rights_of(role))}
    return _change_of(person, act="switch_on", content=content, right=Right.MANAGE_STAFF)


def takes_two(rights: Collection[str]) -> bool:
    """Whether one of these rights proposes or approves an act that takes two people."""
    return "*" in rights or not NEEDS_TWO.isdisjoint(rights)


def gained_rights(person: User, role: Role) -> list[str]:
    """The rights that the person would hold with this role, and does not hold now; also `MORE_TO_SPEND`."""
    rights = rights_of(role)
    gains = sorted(rights - rights_of(role_of(person)))
    after = limits_of(person, role=limits_of_roles()[role])
    if _SPENDS & rights and not after.is_within(limits_of(person)):
        gains.append(MORE_TO_SPEND)
    return gains


def rights_of(role: Role | None) -> set[str]:
    """The present rights of a role; the owners' "*" means every right."""
    if role is None:
        return set()
    return {*OF_ROLES} | {"*"} if role is Role.OWNER else rights_by_role()[role]
