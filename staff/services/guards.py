"""The rules about acts on other people's accounts. Every service checks them under the rows' locks."""

from collections.abc import Collection
from functools import reduce
from operator import or_

from django.conf import settings
from django.contrib.auth.models import Permission
from django.db.models import Q

from branches.seeing import own_branch
from core.rights import OF_THE_SHOP, Right, Role
from staff.errors import NotAllowed
from staff.models import BREAK_GLASS, StaffQuerySet, User
from staff.roles import rank_of, rights_by_role, roles_given_by

_NAMED = 3  # a sentence has no room for more names


def lock_for_change(person: User, *, actor: User | None) -> User:
    """The person as stored now, locked until the transaction's end together with the actor and all owners.

    `actor`: None for a command, which people who run the server may call. Raises `NotAllowed`.
    """
    keys = {person.pk} | ({actor.pk} if actor else set())
    rows = User.objects.select_for_update(no_key=True).filter(Q(pk__in=keys) | Q(is_superuser=True)).order_by("pk")
    by_key = {row.pk: row for row in rows}
    locked: User = by_key[person.pk]
    if actor is not None:
        _refuse_unless_managed(by_key[actor.pk], locked)
    return locked


def lock_actor(actor: User) -> None:
    """Lock the actor's row, so that nobody changes it meanwhile. Raises `NotAllowed`."""
    _refuse_without_right(User.objects.select_for_update(no_key=True).get(pk=actor.pk))


def refuse_role_above(role: Role, *, actor: User | None) -> None:
    """Raise `NotAllowed` unless the actor, as stored now, may give `role`."""
    if actor is not None and role not in roles_given_by(User.objects.get(pk=actor.pk)):
        raise NotAllowed("role_above_own")


def refuse_demo(person: User) -> None:
    """Raise `NotAllowed` for a demo account with a real upstream: everybody knows its password."""
    if person.is_demo and not settings.SANDBOX:
        raise NotAllowed("demo")


def refuse_outside(person: User) -> None:
    """Raise `NotAllowed` for a person without a password here, whose role the provider decides."""
    if person.is_outside:
        raise NotAllowed("outside")


def may_manage(actor: User, person: User, rights: dict[Role, set[str]] | None = None) -> bool:
    """Whether the actor may change this person's account; `rights`: the result of `rights_by_role`, if known."""
    return _reason_against(actor, person, rights) is None


def sees_more(person: User, actor: User) -> bool:
    """Whether the person sees every branch, and the actor only one: a link would let the actor see all, too."""
    return actor.bound_to is not None and person.bound_to is None


def names_of_holders(*rights: Right, branch: int | None = None) -> list[str]:
    """The shown names of up to three active people who hold all of these rights; owners come last.

    Only people who see `branch`, else the reader's own branch, count.
    """
    people = _helpers_in(branch)
    for right in rights:
        people = people.filter(_holds(right))
    return [holder.shown_name for holder in people[:_NAMED]]


def holders_of_any(rights: Collection[Right], *, branch: int | None = None) -> StaffQuerySet:
    """The active people who hold at least one of these rights and see `branch`, else the reader's own; owners last."""
    people: StaffQuerySet = _helpers_in(branch).filter(reduce(or_, map(_holds, rights)))
    return people


def _holds(right: Right) -> Q:
    """People bound to a branch have no right that concerns the whole shop."""
    holds = Q(pk__in=User.objects.holding(right).values("pk"))
    return holds & Q(bound_since=None) if right in OF_THE_SHOP else holds


def _helpers_in(branch: int | None) -> StaffQuerySet:
    """The people who see the branch and have joined, without the emergency account: only they can help there.

    Without `branch`, the branch of a bound reader counts, so that the reader learns no name of another branch.
    """
    people: StaffQuerySet = User.objects.joined().exclude(username=BREAK_GLASS)
    branch = branch or own_branch()
    people = people if branch is None else people.who_see(branch)
    return people.order_by("is_superuser", "first_name", "username")


def names_of_owners() -> list[str]:
    """The shown names of up to three active owners who have joined; not the emergency account."""
    owners = _helpers_in(None).filter(is_superuser=True, is_active=True)
    return [owner.shown_name for owner in owners[:_NAMED]]


def refuse_last_owner(person: User) -> None:
    """Raise `NotAllowed` when nobody else could sign in as an owner. The caller holds the locks of all owners."""
    if _can_own(person) and not any(_can_own(other) for other in _owners() if other != person):
        raise NotAllowed("last_owner")


def has_owner() -> bool:
    """Whether the shop has an active owner who has joined."""
    return any(owner.has_joined for owner in _owners())


def _owners() -> list[User]:
    return list(User.objects.filter(is_superuser=True, is_active=True))


def _can_own(person: User) -> bool:
    """Whether this person can get in as an owner. A provider's account does not count: the provider may be away."""
    has_password = person.has_usable_password() and not person.is_outside
    return person.is_superuser and person.is_active and has_password and person.username != BREAK_GLASS


def _refuse_without_right(actor: User) -> None:
    if not _has_right(actor):
        raise NotAllowed("no_right")


def _refuse_unless_managed(actor: User, person: User) -> None:
    reason = _reason_against(actor, person)
    if reason is not None:
        raise NotAllowed(reason)


def _reason_against(actor: User, person: User, rights: dict[Role, set[str]] | None = None) -> str | None:
    if not _has_right(actor):
        return "no_right"
    if actor == person:
        return "own_account"
    if actor.is_superuser:
        return None
    if actor.bound_to not in {None, person.branch_id}:
        return "other_branch"
    return "above_own" if rank_of(person) >= rank_of(actor) or _holds_more(person, actor, rights) else None


def _has_right(actor: User) -> bool:
    return actor.is_active and actor.has_perm(Right.MANAGE_STAFF)


def _holds_more(person: User, actor: User, rights: dict[Role, set[str]] | None) -> bool:
    """Whether the person holds a right that is in no role that the actor may give, also by a group that is no role."""
    rights = rights_by_role() if rights is None else rights
    given = {name for role in roles_given_by(actor, rights) for name in rights[role]}
    held = Permission.objects.filter(Q(user=person) | Q(group__user=person))
    return any(f"{app}.{name}" not in given for app, name in held.values_list("content_type__app_label", "codename"))
