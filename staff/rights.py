"""Gives rights (`core.rights`) to roles in migrations, each with an event."""

from typing import Any

from django.db import transaction

from core.rights import Right
from staff.events import ROLE_EDITED

#: The subject of the event that lists the rights of each role; every later right of a role has its own event.
ALL_ROLES = "roles"
_BY_MIGRATION = {"kind": ROLE_EDITED.key, "facts": {"by": "migration"}}


@transaction.atomic
def grant(apps: Any, role: str, *names: str) -> None:
    """For migrations: add these rights to those of a role, with an event. `apps`: the migration's.

    The permissions need not exist yet: Django makes those of all rooms only after the last migration.
    """
    group, _is_new = apps.get_model("auth", "Group").objects.get_or_create(name=role)
    group.permissions.add(*[_permission(apps, Right(name)) for name in names])
    try:
        events = apps.get_model("audit", "AuditEvent").objects
    except LookupError:  # the first migrations
        return
    if events.filter(subject=ALL_ROLES, **_BY_MIGRATION).exists():
        events.create(subject=role, after={"given": list(names)}, **_BY_MIGRATION)


def begin_events(apps: Any) -> None:
    """For one migration: record the present rights of each role; every later right has a separate event."""
    groups = apps.get_model("auth", "Group").objects.prefetch_related("permissions__content_type")
    held = {
        group.name: sorted(
            f"{permission.content_type.app_label}.{permission.codename}" for permission in group.permissions.all()
        )
        for group in groups.order_by("pk")
    }
    apps.get_model("audit", "AuditEvent").objects.create(subject=ALL_ROLES, after=held, **_BY_MIGRATION)


def _permission(apps: Any, right: Right) -> Any:
    app_label, codename = right.split(".")
    content_type, _is_new = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label=app_label, model=right.model
    )
    permission, _is_new = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type, codename=codename, defaults={"name": f"Can {codename.replace('_', ' ')}"}
    )
    return permission
