"""The shop's drawers: adding them, renaming them, putting them out of use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from audit.events import SETTING_CHANGED
from audit.services import record
from drawers.errors import DrawerRefused
from drawers.models import Drawer

if TYPE_CHECKING:
    from staff.models import User


def add_drawer(name: str, *, actor: User) -> Drawer:
    """A new drawer of this name. Raises `DrawerRefused` for a taken one."""
    try:
        with transaction.atomic():
            drawer = Drawer.objects.create(name=name.strip()[:60])
            _note(drawer, actor, before=None)
    except IntegrityError:
        raise DrawerRefused("name_taken") from None
    return drawer


def change_drawer(drawer: Drawer, *, name: str, is_active: bool, actor: User) -> Drawer:
    """Rename it, or put it out of use, or into use again. Raises `DrawerRefused` for a taken name or an open one."""
    try:
        with transaction.atomic():
            current = Drawer.objects.select_for_update(no_key=True).get(pk=drawer.pk)
            before = {"name": current.name, "is_active": current.is_active}
            if not is_active and current.shifts.filter(closed_at=None).exists():
                raise DrawerRefused("in_use")
            current.name, current.is_active = name.strip()[:60], is_active
            current.save()
            _note(current, actor, before=before)
    except IntegrityError:
        raise DrawerRefused("name_taken") from None
    return current


def _note(drawer: Drawer, actor: User, *, before: dict[str, object] | None) -> None:
    after = {"name": drawer.name, "is_active": drawer.is_active}
    record(SETTING_CHANGED, actor=actor, subject=f"drawer {drawer.pk}", before=before, after=after)
