"""What customers pay of their debts, out of whose hands it goes into a drawer; and undoing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from core import clock
from credit import services as credit
from credit.models import CreditAccount, CreditEntry, Method
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry
from drawers.services.locking import lock_shift, open_shift_of, refuse_unless_own

if TYPE_CHECKING:
    from uuid import UUID

    from staff.models import User


def take_credit_payment(
    account: CreditAccount, *, amount: int, method: str, actor: User, note: str = "", token: UUID | None = None
) -> CreditEntry:
    """Note that the customer paid `amount` rupiah of what is owed to the actor, whose open shift it enters.

    Cash takes an open shift; of a transfer or QRIS nothing is in a drawer, so it takes none. `token`: one per
    rendered form; the same again gives the same payment, once in the shift. Raises `DrawerRefused` and `CreditRefused`.
    """
    own = open_shift_of(actor.pk)
    if own is None and method == Method.CASH:
        raise DrawerRefused("no_shift")
    with transaction.atomic():
        shift = lock_shift(own.pk) if own else None
        credit.lock_account(account.pk)
        is_new = token is None or not CreditEntry.objects.filter(token=token).exists()
        payment = credit.record_payment(account, amount=amount, method=method, actor=actor, reason=note, token=token)
        if shift and is_new:
            DrawerEntry.objects.create(
                shift=shift,
                kind=DrawerEntry.Kind.CREDIT,
                method=method,
                amount=amount,
                reason=credit.name_of(payment.account),
                person_id=actor.pk,
                at=clock.now(),
                credit_entry=payment,
            )
        return payment


def undo_credit_payment(payment: CreditEntry, *, actor: User, reason: str) -> CreditEntry:
    """Undo a payment that was entered wrongly, on the account and in its shift.

    Raises `DrawerRefused`, `CreditRefused`.
    Once its shift is closed, cash is no longer undone: enter what is in the drawer too much or too little there.
    """
    with transaction.atomic():
        entry = DrawerEntry.objects.filter(credit_entry=payment).first()
        shift = None
        if entry:
            shift = lock_shift(entry.shift_id)
            refuse_unless_own(shift, actor)
        undoing = credit.undo_payment(payment, actor=actor, reason=reason)
        if entry and shift:
            DrawerEntry.objects.create(
                shift=shift,
                kind=entry.kind,
                method=entry.method,
                amount=-entry.amount,
                reason=reason.strip()[:500],
                person_id=actor.pk,
                at=clock.now(),
                credit_entry=undoing,
                undoes=entry,
            )
        return undoing
