"""Notes that a customer has the money back. No refund is automatic: a person gives the money and then notes it."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q, QuerySet

from audit.services import record
from core import clock
from credit import services as credit
from credit.errors import CreditRefused
from credit.methods import counts_as_cash, find_method
from customers.models import Customer
from drawers.errors import DrawerRefused, TooLittleCash
from drawers.events import GIVEN_BACK
from drawers.models import DrawerEntry, Outcome, Payment, Shift
from drawers.models.payments import owed
from drawers.services.locking import enter, lock_shift, refuse_unless_own
from drawers.services.payments import lock_payment
from drawers.services.shifts import expected_cash
from policies.services import policies
from staff.models import User


def give_back(
    payment: Payment,
    *,
    method: str,
    actor: User,
    shift: Shift | None = None,
    customer: Customer | None = None,
    note: str = "",
) -> Payment:
    """Note that the customer has the full price back, by `method`; return the payment.

    The order has ended without success, and nobody gave it back before. Cash comes out of a `shift`; another way may be
    in no shift, such as a transfer by the owner. On credit it comes off the account of the sale, else off the account
    of `customer`; a sale on credit goes back in money only if the customer has paid it, and not at all if it is on
    no account. Raises `DrawerRefused`, `TooLittleCash` and `CreditRefused`.
    """
    with transaction.atomic():
        current = _locked(payment)
        if shift is None and counts_as_cash(method):
            raise DrawerRefused("no_shift")
        paying = lock_shift(shift.pk) if shift else None
        if paying:
            refuse_unless_own(paying, actor)
        _take_off_account(current, method, actor=actor, customer=customer, note=note)
        if paying:
            refund = {"ref_id": current.ref_id, "reason": note.strip()[:500]}
            kind, amount = DrawerEntry.Kind.REFUND, -current.to_give_back
            if counts_as_cash(method) and (there := expected_cash(paying)) + amount < 0:
                raise TooLittleCash(there, is_blind=policies().blind_count)
            current.refund_entry = enter(paying, kind, amount, method=method, actor=actor, **refund)
        current.given_method = method
        _note(current, actor=actor, note=note)
        facts = {"method": method, "amount": current.to_give_back, "shift": paying.pk if paying else None}
        record(GIVEN_BACK, actor=actor, subject=current.ref_id, facts=facts)
        return current


def note_given_back(payment: Payment, *, actor: User, note: str) -> Payment:
    """Note, only in words, how the customer got the money back. Raises `DrawerRefused`, also if it is on no account.

    Raises `CreditRefused` while it is on a customer's account: a note would leave the debt there. The account of a
    deleted customer is paid and stays as it is.
    """
    with transaction.atomic():
        current = _locked(payment)
        if current.debt and current.debt.account.customer_id:
            raise CreditRefused("still_owed")
        _note(current, actor=actor, note=note)
        record(GIVEN_BACK, actor=actor, subject=current.ref_id, facts={"amount": current.to_give_back})
        return current


def _locked(payment: Payment) -> Payment:
    current = lock_payment(payment.pk)
    if current.is_given:
        raise DrawerRefused("given_back")
    if current.outcome not in {Outcome.OWED, Outcome.NOTHING}:
        raise DrawerRefused("not_owed")
    if current.is_on_no_account:
        raise DrawerRefused("on_no_account")
    return current


def _note(payment: Payment, *, actor: User, note: str) -> None:
    payment.outcome, payment.given_by_id, payment.given_at = Outcome.GIVEN, actor.pk, clock.now()
    payment.given_note = note.strip()[:500]
    payment.save(update_fields=["outcome", "given_by", "given_at", "given_method", "given_note", "refund_entry"])


def _take_off_account(payment: Payment, method: str, *, actor: User, customer: Customer | None, note: str) -> None:
    row = find_method(method)
    is_on_account = payment.debt is not None and payment.debt.account.customer_id is not None
    if row is None or not row.needs_debtor:
        credit.refuse_but_money(method, reference=note)
        if not is_on_account:
            return  # also if its customer paid all and was deleted since: then that account never changes again
    ref_id, amount, branch = payment.ref_id, payment.amount, payment.branch_id
    entry = credit.give_back_credit(
        payment.debt, ref_id=ref_id, amount=amount, actor=actor, branch=branch, customer=customer, reason=note
    )
    if row and not row.needs_debtor:
        account, amount = entry.account, -entry.amount
        credit.pay_back(account, amount=amount, method=method, actor=actor, ref_id=ref_id, branch=branch)


def unsettled(shifts: Sequence[Shift]) -> QuerySet[Payment]:
    """The payments of these shifts whose order has not ended, or that are owed to the customer; oldest first."""
    sold = Payment.objects.filter(Q(outcome=Outcome.OPEN) | owed(), sold_in__in=shifts)
    return sold.select_related("order").order_by("pk")
