"""The shop's drawers: adding them, renaming them, putting them out of use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from audit.events import SETTING_CHANGED
from audit.services import record
from branches.models import FIRST
from drawers.errors import DrawerRefused
from drawers.models import Drawer

if TYPE_CHECKING:
    from staff.models import User


def add_drawer(name: str, *, actor: User, branch: int = FIRST) -> Drawer:
    """A new drawer of this name in the branch with this key. Raises `DrawerRefused` for a taken one."""
    try:
        with transaction.atomic():
            drawer = Drawer.objects.create(name=name.strip()[:60], branch_id=branch)
            _note(drawer, actor, before=None)
    except IntegrityError:
        raise DrawerRefused("name_taken") from None
    return drawer


def change_drawer(drawer: Drawer, *, name: str, is_active: bool, actor: User, branch: int | None = None) -> Drawer:
    """Rename it, put it out of use or into use again, or into another branch (by its key).

    Raises `DrawerRefused` for a taken name, and for an open one that is to be out of use or elsewhere.
    """
    try:
        with transaction.atomic():
            current = Drawer.objects.select_for_update(no_key=True).get(pk=drawer.pk)
            before, branch = _facts(current), branch or current.branch_id
            if (not is_active or branch != current.branch_id) and current.shifts.filter(closed_at=None).exists():
                raise DrawerRefused("in_use")
            current.name, current.is_active, current.branch_id = name.strip()[:60], is_active, branch
            current.save()
            _note(current, actor, before=before)
    except IntegrityError:
        raise DrawerRefused("name_taken") from None
    return current


def _facts(drawer: Drawer) -> dict[str, object]:
    return {"name": drawer.name, "is_active": drawer.is_active, "branch": drawer.branch_id}


def _note(drawer: Drawer, actor: User, *, before: dict[str, object] | None) -> None:
    record(SETTING_CHANGED, actor=actor, subject=f"drawer {drawer.pk}", before=before, after=_facts(drawer))
