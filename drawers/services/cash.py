"""Notes cash that comes in or goes out for a reason other than a sale."""

from uuid import UUID

from django.db import transaction

from core import clock
from drawers.errors import DrawerRefused, TooLittleCash
from drawers.models import DrawerEntry, Shift
from drawers.services.locking import lock_shift, refuse_unless_own
from drawers.services.shifts import expected_cash
from policies.services import policies
from staff.models import User


def pay_in(shift: Shift, *, amount: int, reason: str, actor: User, token: UUID | None = None) -> DrawerEntry:
    """Note `amount` rupiah (above zero) that came into the drawer, such as change from the bank.

    `token`: one per rendered form; the same again gives the same entry. Raises `DrawerRefused`.
    """
    return _enter(shift, DrawerEntry.Kind.PAID_IN, amount, reason, actor=actor, token=token)


def pay_out(shift: Shift, *, amount: int, reason: str, actor: User, token: UUID | None = None) -> DrawerEntry:
    """Note `amount` rupiah (above zero) that went out of the drawer, such as to the safe.

    `token`: as `pay_in`. Raises `TooLittleCash` when the drawer holds less, and `DrawerRefused`.
    """
    return _enter(shift, DrawerEntry.Kind.PAID_OUT, -amount, reason, actor=actor, token=token)


def _enter(
    shift: Shift, kind: DrawerEntry.Kind, amount: int, reason: str, *, actor: User, token: UUID | None
) -> DrawerEntry:
    reason_text = reason.strip()[:500]
    if not reason_text:
        raise DrawerRefused("no_reason")
    with transaction.atomic():
        current = lock_shift(shift.pk)
        refuse_unless_own(current, actor)
        facts = {"shift_id": current.pk, "kind": kind, "amount": amount, "reason": reason_text, "person_id": actor.pk}
        before = DrawerEntry.objects.filter(token=token).first() if token else None
        if before and any(getattr(before, name) != value for name, value in facts.items()):
            raise DrawerRefused("form_used")
        if before:
            return before
        if amount < 0 and (there := expected_cash(current)) + amount < 0:
            raise TooLittleCash(there, is_blind=policies().blind_count)
        return DrawerEntry.objects.create(**facts, at=clock.now(), token=token)
