"""The shop's drawers: adds and renames them, puts them out of use; and sets the drawer that a person usually opens."""

import structlog
from django.db import IntegrityError, transaction

from audit.events import SETTING_CHANGED
from audit.services import record
from branches.models import FIRST
from branches.services import keep_open
from core.rights import Right
from drawers.errors import DrawerRefused
from drawers.events import USUAL_DRAWER_CHANGED
from drawers.models import Drawer, Shift, UsualDrawer
from staff.errors import NotAllowed
from staff.models import User
from staff.services.guards import lock_for_change

log = structlog.get_logger()


def add_drawer(name: str, *, actor: User, branch: int = FIRST) -> Drawer:
    """A new drawer of this name in the branch with this key. Raises `DrawerRefused` for a taken name, `BranchRefused`
    for a closed branch."""
    try:
        with transaction.atomic():
            keep_open(branch)
            drawer = Drawer.objects.create(name=name.strip()[:60], branch_id=branch)
            _note(drawer, actor, before=None)
    except IntegrityError:
        raise DrawerRefused("name_taken") from None
    return drawer


def change_drawer(drawer: Drawer, *, name: str, is_active: bool, actor: User, branch: int | None = None) -> Drawer:
    """Rename the drawer, put it out of use or into use again, or move it to another branch (by its key).

    Raises `DrawerRefused` for a taken name, and for an open drawer that would go out of use or to another branch; and
    `BranchRefused` if it would be in use in a closed branch.
    """
    try:
        with transaction.atomic():
            current = Drawer.objects.select_for_update(no_key=True).get(pk=drawer.pk)
            before, branch = _facts(current), branch or current.branch_id
            if (not is_active or branch != current.branch_id) and current.shifts.filter(closed_at=None).exists():
                raise DrawerRefused("in_use")
            if is_active:
                keep_open(branch)
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


def free_usual_drawer(person: User) -> int | None:
    """The key of this person's usual drawer; None unless it is free and in the branch of the person's sales."""
    usual = UsualDrawer.objects.filter(person=person.pk, drawer__is_active=True, drawer__branch=person.sells_in)
    taken = Shift.objects.filter(closed_at=None).values("drawer")
    return usual.exclude(drawer__in=taken).values_list("drawer", flat=True).first()


def set_usual_drawer(person: User, drawer: Drawer | None, *, actor: User) -> None:
    """Set the drawer that the person is offered first; None: the last drawer that the person had.

    Raises `NotAllowed`; and `DrawerRefused` for a drawer out of use or of another branch, and for a person who may use
    none.
    """
    with transaction.atomic():
        locked = lock_for_change(person, actor=actor)
        if not actor.has_perm(Right.CHANGE_LIMITS):
            raise NotAllowed("no_limits")
        before = UsualDrawer.objects.filter(person=locked).select_related("drawer").first()
        if drawer is None:
            UsualDrawer.objects.filter(person=locked).delete()
        else:
            # The lock on the drawer's row keeps it in use and in its branch meanwhile.
            drawer = Drawer.objects.select_for_update(no_key=True).get(pk=drawer.pk)
            _refuse(locked, drawer)
            UsualDrawer.objects.update_or_create(person=locked, defaults={"drawer": drawer})
        was, is_now = before.drawer.name if before else "", drawer.name if drawer else ""
        if was != is_now:
            names = {"before": {"drawer": was}, "after": {"drawer": is_now}}
            record(USUAL_DRAWER_CHANGED, actor=actor, subject=locked.username, **names)
    log.info("usual_drawer_changed", by=actor.pk, person=locked.pk, drawer=drawer.pk if drawer else None)


def _refuse(person: User, drawer: Drawer) -> None:
    """Raise `DrawerRefused` if this person could not open the drawer."""
    if not drawer.is_active:
        raise DrawerRefused("drawer_off")
    if drawer.branch_id != person.branch_id:
        raise DrawerRefused("usual_elsewhere")
    if not person.has_perm(Right.USE_DRAWERS):
        raise DrawerRefused("no_right")
