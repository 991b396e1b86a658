"""The shift's lock, under which entries are made. It comes after a payment's lock and before the day's."""

from typing import Any

from django.db import connection
from django.db.transaction import TransactionManagementError

from core import clock
from credit.methods import counts_as_cash
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Shift
from staff.models import User


def lock_shift(pk: int, *, is_closed: bool = False) -> Shift:
    """The shift, locked until the transaction ends. Raises `DrawerRefused` for a closed one, unless `is_closed`."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock lasts no longer than its transaction")
    shift = Shift.objects.select_for_update(no_key=True, of=("self",)).select_related("drawer", "cashier").get(pk=pk)
    if not (is_closed or shift.is_open):
        raise DrawerRefused("closed")
    return shift


def open_shift_of(person_id: int) -> Shift | None:
    """The open shift of this person."""
    return Shift.objects.select_related("drawer", "cashier").filter(cashier=person_id, closed_at=None).first()


def refuse_unless_own(shift: Shift, actor: User) -> None:
    """Raise `DrawerRefused` unless this is the actor's shift, or the actor manages drawers and sees its branch."""
    if not shift.takes_entries_of(actor):
        raise DrawerRefused("not_yours")


def enter(shift: Shift, kind: str, amount: int, *, method: str, actor: User, **facts: Any) -> DrawerEntry:
    """Add an entry of `amount` rupiah (signed) to the locked shift."""
    entered = {"method": method, "is_cash": counts_as_cash(method), "at": clock.now(), **facts}
    return DrawerEntry.objects.create(shift=shift, kind=kind, amount=amount, person_id=actor.pk, **entered)
