"""Cash that comes in or goes out for another reason than a sale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from core import clock
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Shift
from drawers.services.locking import lock_shift, refuse_unless_own

if TYPE_CHECKING:
    from staff.models import User


def pay_in(shift: Shift, *, amount: int, reason: str, actor: User) -> DrawerEntry:
    """Note `amount` rupiah (above zero) that came into the drawer, such as change from the bank."""
    return _enter(shift, DrawerEntry.Kind.PAID_IN, amount, reason, actor)


def pay_out(shift: Shift, *, amount: int, reason: str, actor: User) -> DrawerEntry:
    """Note `amount` rupiah (above zero) that went out of the drawer, such as to the safe."""
    return _enter(shift, DrawerEntry.Kind.PAID_OUT, -amount, reason, actor)


def _enter(shift: Shift, kind: DrawerEntry.Kind, amount: int, reason: str, actor: User) -> DrawerEntry:
    if not reason.strip():
        raise DrawerRefused("no_reason")
    with transaction.atomic():
        current = lock_shift(shift.pk)
        refuse_unless_own(current, actor)
        return DrawerEntry.objects.create(
            shift=current, kind=kind, amount=amount, reason=reason.strip()[:500], person_id=actor.pk, at=clock.now()
        )
