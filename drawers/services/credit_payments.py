"""Notes payments of debts and payouts to customers, both in the drawer and on the account."""

from uuid import UUID

from django.db import transaction

from audit.services import record
from credit import services as credit
from credit.methods import counts_as_cash
from credit.models import CreditAccount, CreditEntry
from drawers.errors import DrawerRefused, TooLittleCash
from drawers.events import CREDIT_PAID_OUT
from drawers.models import DrawerEntry
from drawers.services.locking import enter, lock_shift, open_shift_of, refuse_unless_own
from drawers.services.shifts import expected_cash
from policies.services import policies
from staff.models import User

_Kind = DrawerEntry.Kind


def take_credit_payment(
    account: CreditAccount, *, amount: int, method: str, actor: User, note: str = "", token: UUID | None = None
) -> CreditEntry:
    """Note that the customer paid the actor `amount` rupiah of a debt; it enters the actor's open shift.

    Cash needs an open shift; another way needs none, because its money is in no drawer. `token`: one per
    rendered form; the same again gives the same payment, once in the shift. Raises `DrawerRefused` and `CreditRefused`.
    """
    own = open_shift_of(actor.pk)
    if own is None and counts_as_cash(method):
        raise DrawerRefused("no_shift")
    with transaction.atomic():
        shift = lock_shift(own.pk) if own else None
        branch = shift.drawer.branch_id if shift else None
        credit.lock_account(account.pk)
        is_new = token is None or not CreditEntry.objects.filter(token=token).exists()
        payment = credit.record_payment(
            account, amount=amount, method=method, actor=actor, reason=note, token=token, branch=branch
        )
        if shift and is_new:
            name = credit.name_of(payment.account)
            enter(shift, _Kind.CREDIT, amount, method=method, actor=actor, reason=name, credit_entry=payment)
        return payment


def pay_out_credit(
    account: CreditAccount, *, amount: int, method: str, actor: User, reason: str = "", token: UUID | None = None
) -> CreditEntry:
    """Note that the actor paid the customer `amount` rupiah that the shop owed on this account. It is final.

    Cash needs an open shift with enough cash; another way is noted in the shift if one is open.
    `token`: one per rendered form; the same again gives the same entry, once in the shift. Raises `DrawerRefused`,
    `TooLittleCash` and `CreditRefused`.
    """
    own = open_shift_of(actor.pk)
    if own is None and counts_as_cash(method):
        raise DrawerRefused("no_shift")
    with transaction.atomic():
        shift = lock_shift(own.pk) if own else None
        branch = shift.drawer.branch_id if shift else None
        credit.lock_account(account.pk)
        is_new = token is None or not CreditEntry.objects.filter(token=token).exists()
        paid = credit.pay_out_kept(
            account, amount=amount, method=method, actor=actor, reason=reason, token=token, branch=branch
        )
        if not is_new:
            return paid
        if shift and counts_as_cash(method) and (there := expected_cash(shift)) < amount:
            raise TooLittleCash(there, is_blind=policies().blind_count)
        if shift:
            name = credit.name_of(paid.account)
            enter(shift, _Kind.CREDIT_OUT, -amount, method=method, actor=actor, reason=name, credit_entry=paid)
        facts = {"method": method, "amount": amount, "shift": shift.pk if shift else None}
        subject = f"customer {paid.account.customer_id}"
        record(CREDIT_PAID_OUT, actor=actor, subject=subject, facts=facts)
        return paid


def undo_credit_payment(payment: CreditEntry, *, actor: User, reason: str) -> CreditEntry:
    """Undo a wrongly entered payment, on the account and in its shift.

    Raises `DrawerRefused`, `CreditRefused`. After the shift has closed, a cash payment stays, because it was counted.
    Another way is then undone only on the account: a closed shift never changes.
    """
    with transaction.atomic():
        entry = DrawerEntry.objects.filter(credit_entry=payment).first()
        shift = lock_shift(entry.shift_id, is_closed=True) if entry else None
        if entry and shift and not shift.is_open:
            if entry.is_cash:
                raise DrawerRefused("cash_counted")
            shift = None
        if shift:
            refuse_unless_own(shift, actor)
        undoing = credit.undo_payment(payment, actor=actor, reason=reason)
        if entry and shift:
            facts = {"is_cash": entry.is_cash, "reason": reason.strip()[:500]}
            facts |= {"credit_entry": undoing, "undoes": entry}
            enter(shift, entry.kind, -entry.amount, method=entry.method, actor=actor, **facts)
        return undoing
