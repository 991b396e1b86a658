"""The rights and limits of roles: only owners change them."""

from collections.abc import Collection
from dataclasses import asdict

import structlog
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from audit.services import record
from core.rights import OF_ROLES, Right, Role
from staff.errors import NotAllowed
from staff.events import ROLE_EDITED
from staff.models import RoleLimits, User
from staff.roles import rights_by_role
from staff.services.limits import Limits, limits_of_roles
from staff.services.links import withdraw_unbacked_links
from staff.services.second import NOBODY, Change, role_edit, settle

log = structlog.get_logger()


def change_role_rights(
    role: Role,
    permissions: Collection[str],
    limits: Limits,
    *,
    actor: User | None,
    approved_by: User | None = None,
) -> None:
    """Give the role exactly these rights ("app_label.codename") and limits; they count from the next request on.

    Owners keep every right; only their limits change. `actor`: None for a command. Raises `NotAllowed`; or
    `NeedsSecond` when the role could do or spend more, and another owner could approve it but has not.
    """
    wanted = set(permissions)
    with transaction.atomic():
        change, is_more = lock_role_edit(role, wanted, limits, actor=actor)
        facts = settle(change, actor=actor, approved_by=approved_by) if is_more else NOBODY
        if role is not Role.OWNER:
            Group.objects.get(name=role).permissions.set(_stored(wanted))
        RoleLimits.objects.update_or_create(role=role.value, defaults=asdict(limits))
        withdraw_unbacked_links()
        before, after = change.content["before"], change.content["after"]
        if before != after:
            what = {"before": before, "after": after, "facts": facts}
            record(ROLE_EDITED, actor=actor, subject=role.value, **what)
    log.info("staff_role_edited", by=actor.pk if actor else "command", role=role.value)


def lock_role_edit(
    role: Role, permissions: Collection[str], limits: Limits, *, actor: User | None
) -> tuple[Change, bool]:
    """The change, with the role locked, and whether the role could then do or spend more.

    Raises `NotAllowed` if the actor may not make it.
    """
    lock_role(role)
    wanted = set(permissions)
    if actor is not None:
        _refuse_beyond_own(actor, wanted)
    if unknown := wanted - set(OF_ROLES):
        raise ValueError(f"no such rights: {sorted(unknown)}")
    held, limits_before = rights_by_role().get(role, set()), limits_of_roles()[role]
    after = {"rights": sorted(wanted if role is not Role.OWNER else held), "limits": asdict(limits)}
    is_more = not (set(after["rights"]) <= held and limits.is_within(limits_before))
    return role_edit(role, described(role), after), is_more


def lock_role(role: Role) -> None:
    """Lock the role until the transaction ends: one change at a time. Its limits are the row that the app may lock."""
    RoleLimits.objects.get_or_create(role=role.value)
    RoleLimits.objects.select_for_update().get(role=role.value)


def described(role: Role) -> dict[str, object]:
    """The rights and limits of a role as they are stored now, as JSON."""
    return {"rights": sorted(rights_by_role().get(role, ())), "limits": asdict(limits_of_roles()[role])}


def _refuse_beyond_own(actor: User, wanted: set[str]) -> None:
    """Raise `NotAllowed` unless the actor, locked and as stored now, may change roles and holds the wanted rights."""
    stored = User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    if not (stored.is_active and stored.has_perm(Right.CHANGE_ROLES)):
        raise NotAllowed("no_roles")
    if not wanted <= stored.get_all_permissions():
        raise NotAllowed("right_above_own")


def _stored(names: set[str]) -> list[Permission]:
    wanted = Q(pk__in=())
    for name in names:
        app_label, codename = name.split(".")
        wanted |= Q(content_type__app_label=app_label, codename=codename)
    return list(Permission.objects.filter(wanted))
