"""The roles, the first rights of each, and the demo staff of the sandbox."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import transaction

from audit.services import record
from core.rights import NEEDS_TWO, OF_ROLES, Right, Role
from staff.events import STAFF_INVITED, STAFF_SWITCHED_ON
from staff.models import User
from staff.rights import grant

NO_RANK = -1
# Owners hold every right, and that cannot be changed.
EDITABLE = tuple(role for role in Role if role is not Role.OWNER)


def role_of(person: User) -> Role | None:
    """The highest role of this person; None for a person without a role. No query for the person of a request."""
    if person.is_superuser:
        return Role.OWNER
    names = getattr(person, "group_names", None)
    if names is None:
        names = [group.name for group in person.groups.all()]
    return next((role for role in reversed(Role) if role in names), None)


def rank_of(person: User) -> int:
    """The rank of this person's role; `NO_RANK` without one."""
    role = role_of(person)
    return NO_RANK if role is None else role.rank


def rights_by_role() -> dict[Role, set[str]]:
    """The present rights of each role except the owners', as "app_label.codename"; the shop may have changed them."""
    held: dict[Role, set[str]] = {role: set() for role in EDITABLE}
    permissions = Permission.objects.filter(group__name__in=EDITABLE)
    for role, app, name in permissions.values_list("group__name", "content_type__app_label", "codename"):
        held[Role(role)].add(f"{app}.{name}")
    return held


def roles_given_by(person: User, rights: dict[Role, set[str]] | None = None) -> list[Role]:
    """The roles that this person may give, lowest first. Owners may give every role; other people may give roles

    - below their own,
    - with no right that they lack, except to sell by password alone, which only owners add to a role,
    - with no right that takes two people: with a second account one person alone could do acts that take two people.

    `rights`: the result of `rights_by_role`, if known.
    """
    if person.is_superuser:
        return list(Role)
    rank, own = rank_of(person), person.get_all_permissions() - NEEDS_TWO | {Right.SELL_BY_PASSWORD}
    held_by = rights_by_role() if rights is None else rights
    return [role for role, held in held_by.items() if role.rank < rank and held <= own]


def give_role(person: User, role: Role) -> None:
    """Make this the person's only role. Groups that are not roles stay. An owner sees every branch."""
    person.is_superuser = person.is_staff = role is Role.OWNER
    if person.is_superuser:
        person.bound_since = None
    person.save(update_fields=["is_superuser", "is_staff", "bound_since"])
    person.groups.remove(*Group.objects.filter(name__in=EDITABLE))
    if role in EDITABLE:
        person.groups.add(Group.objects.get(name=role))


# The rights of each role in a new shop. A migration gives a right of a later version (`grant`), so that a shop's
# changes stay.
ROLES = {role: tuple(right for right in OF_ROLES if role in right.begins_with) for role in EDITABLE}
# The owner approves an administrator's proposal for the books, and an administrator the owner's.
DEMO_STAFF = {
    "cashier": {"role": Role.CASHIER, "first_name": "Kasir"},
    "supervisor": {"role": Role.SUPERVISOR, "first_name": "Supervisor"},
    "admin": {"role": Role.ADMINISTRATOR, "first_name": "Admin"},
    "owner": {"role": Role.OWNER, "first_name": "Owner"},
    "auditor": {"role": Role.AUDITOR, "first_name": "Auditor"},
    "viewer": {"role": Role.VIEWER, "first_name": "Viewer"},
}


def make_roles(apps: Any, _schema_editor: Any) -> None:
    """For the first migration: make each role with its first rights."""
    for role, names in ROLES.items():
        grant(apps, role.value, *names)


@transaction.atomic
def create_demo_staff() -> None:
    """With the sandbox, create all of `DEMO_STAFF`, password "<name>-demo"; with a real upstream, switch them off.

    People who are not demo staff are never changed, even if they have such a name.
    """
    if not settings.SANDBOX:
        User.objects.filter(is_demo=True).update(is_active=False)
        return
    for username, facts in DEMO_STAFF.items():
        defaults = {"first_name": facts["first_name"], "last_name": "Demo", "is_demo": True}
        user, is_new = User.objects.get_or_create(username=username, defaults=defaults)
        if not user.is_demo:
            continue
        if is_new:
            user.set_password(f"{username}-demo")
            give_role(user, Role(facts["role"]))
        if is_new or not user.is_active:
            kind = STAFF_INVITED if is_new else STAFF_SWITCHED_ON
            record(kind, subject=username, after={"role": Role(facts["role"]).value}, facts={"demo": True})
        user.is_active = True
        user.save(update_fields=["password", "is_active"])
