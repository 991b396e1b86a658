"""Notes money that comes in for a customer's debt, or goes back to a customer who has paid too much.

`drawers.services.credit_payments` does this for cash of a drawer.
"""

from typing import Any
from uuid import UUID

from django.db import transaction

from core.rights import Right
from credit.errors import CreditRefused
from credit.methods import find_method
from credit.models import CreditAccount, CreditEntry
from credit.services.accounts import enter, entered_before, lock_account, refuse_unless_may
from staff.models import User

_Kind = CreditEntry.Kind


def record_payment(
    account: CreditAccount,
    *,
    amount: int,
    method: str,
    actor: User,
    reason: str = "",
    token: UUID | None = None,
    branch: int | None = None,
) -> CreditEntry:
    """Note that the customer paid `amount` rupiah (above zero), at most what is owed. Raises `CreditRefused`.

    `token`: one per rendered form; the same again gives the same payment. `branch`: the key of the drawer's branch;
    None: where the actor sells.
    """
    refuse_but_money(method, reference=reason)
    refuse_unless_may(actor)
    with transaction.atomic():
        current = lock_account(account.pk)
        facts = {"method": method, "reason": reason.strip()[:500]}
        if before := entered_before(current, token, actor=actor, kind=_Kind.PAYMENT, amount=-amount, **facts):
            return before
        if amount > current.balance:
            raise CreditRefused("more_than_owed")
        return enter(current, _Kind.PAYMENT, -amount, actor=actor, branch=branch, token=token, **facts)


def undo_payment(payment: CreditEntry, *, actor: User, reason: str) -> CreditEntry:
    """Undo a wrongly entered payment: its amount is owed again. Raises `CreditRefused`.

    A payment stays if its customer was deleted since, or if money went back since: that money was this payment.
    """
    if not reason.strip():
        raise CreditRefused("no_reason")
    with transaction.atomic():
        current = lock_account(payment.account_id)
        if payment.person_id != actor.pk and not actor.has_perm(Right.MANAGE_CREDIT):
            raise CreditRefused("not_yours")
        if CreditEntry.objects.filter(undoes=payment).exists():
            raise CreditRefused("undone")
        if current.customer_id is None:
            raise CreditRefused("deleted")
        if payment.pk < last_paid_back(current):
            raise CreditRefused("paid_back_since")
        facts: dict[str, Any] = {"method": payment.method, "undoes": payment, "reason": reason.strip()[:500]}
        return enter(current, _Kind.PAYMENT, -payment.amount, actor=actor, **facts)


def last_paid_back(account: CreditAccount) -> int:
    """The key of the account's newest entry of money that went back; 0 for none. Payments before it are final."""
    entries = CreditEntry.objects.filter(account=account, kind=_Kind.PAID_BACK)
    return entries.order_by("-pk").values_list("pk", flat=True).first() or 0


def pay_back(
    account: CreditAccount, *, amount: int, method: str, actor: User, ref_id: str = "", branch: int | None = None
) -> CreditEntry:
    """Note that `amount` rupiah went back to a customer who had overpaid at least as much. Raises `CreditRefused`.

    `ref_id`, `branch`: the order for which it went back, and the key of its branch.
    """
    with transaction.atomic():
        current = lock_account(account.pk)
        if current.balance + amount > 0:
            raise CreditRefused("not_paid_yet")
        return enter(current, _Kind.PAID_BACK, amount, actor=actor, branch=branch, method=method, ref_id=ref_id)


def pay_out_kept(
    account: CreditAccount,
    *,
    amount: int,
    method: str,
    actor: User,
    reason: str = "",
    token: UUID | None = None,
    branch: int | None = None,
) -> CreditEntry:
    """Note a payout of `amount` rupiah (above zero), at most all that the shop keeps for the customer.

    It is final. `token`: one per rendered form; the same again gives the same entry. `branch`: the key of the drawer's
    branch; None: where the actor sells. Raises `CreditRefused`.
    """
    refuse_but_money(method, reference=reason)
    refuse_unless_may(actor)
    with transaction.atomic():
        current = lock_account(account.pk)
        facts = {"method": method, "reason": reason.strip()[:500]}
        if before := entered_before(current, token, actor=actor, kind=_Kind.PAID_BACK, amount=amount, **facts):
            return before
        if amount > -current.balance:
            raise CreditRefused("more_than_kept")
        return enter(current, _Kind.PAID_BACK, amount, actor=actor, branch=branch, token=token, **facts)


def refuse_but_money(method: str, *, reference: str) -> None:
    """Raise `CreditRefused` unless money moves by this method, with the number of its slip if one is needed."""
    row = find_method(method)
    if row is None or row.needs_debtor:
        raise CreditRefused("not_money")
    if row.needs_reference and not reference.strip():
        raise CreditRefused("no_reference")
