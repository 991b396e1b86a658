"""Giving a customer the money back. Nothing does so by itself: it is noted when somebody did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from audit.kinds import Kind
from audit.services import record
from core import clock
from core.rights import Right
from credit import services as credit
from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Method, Refund, Shift
from drawers.services.locking import lock_shift, open_shift_of, refuse_unless_own
from drawers.services.sales import catch_up, current_sale, enter_sales, is_given_back
from purchases.models import Order
from purchases.services import lock_order_for_move, note_given_back
from purchases.states import OPEN, UNFULFILLED, Status

if TYPE_CHECKING:
    from django.http import HttpRequest

    from customers.models import Customer
    from staff.models import User

# The customer has nothing for the money.
OWED = UNFULFILLED
GIVE = Right.GIVE_BACK


def give_back(
    order: Order,
    *,
    method: str,
    actor: User,
    shift: Shift | None = None,
    customer: Customer | None = None,
    note: str = "",
    request: HttpRequest | None = None,
) -> DrawerEntry | None:
    """Note that the customer has the whole price back, by `method`; its entry, where it is in a shift.

    The order has ended without success, and nobody gave it back before. Cash comes out of a `shift`; what else may be
    in none, such as a transfer by the owner. A reversed order is noted as given back, too, in the same transaction. On
    credit it comes off the account on which it was sold, else off that of `customer`; a sale on credit goes back in
    money only if the customer has paid it. Raises `DrawerRefused`, and `CreditRefused`.
    """
    chosen = Method(method)
    if order.placed_by_id and (selling := open_shift_of(order.placed_by_id)):
        catch_up(selling)  # by itself: nobody holds two shifts at once
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if current.status not in OWED:
            raise DrawerRefused("not_owed")
        if shift is None and chosen == Method.CASH:
            raise DrawerRefused("no_shift")
        paying = _locked(shift, actor) if shift else None
        if is_given_back(current):
            raise DrawerRefused("given_back")
        _take_off_account(current, chosen, actor=actor, customer=customer, note=note)
        if current.status == Status.REVERSED:
            note_given_back(current, actor=actor, note=note.strip() or _words(chosen, paying))
        sale = current_sale(current.ref_id)
        amount = sale.amount if sale else current.customer_pays
        entry = None
        if paying:
            entry = DrawerEntry.objects.create(
                shift=paying,
                kind=DrawerEntry.Kind.REFUND,
                method=chosen,
                amount=-amount,
                ref_id=current.ref_id,
                reason=note.strip()[:500],
                person_id=actor.pk,
                at=clock.now(),
                sold_in=sale.shift if sale and sale.shift_id != paying.pk else None,
            )
        _note(current, amount=amount, method=chosen, actor=actor, note=note, entry=entry, request=request)
        return entry


def _locked(shift: Shift, actor: User) -> Shift:
    paying = lock_shift(shift.pk)
    refuse_unless_own(paying, actor)
    enter_sales(paying)
    return paying


def _note(
    order: Order,
    *,
    amount: int,
    method: Method,
    actor: User,
    note: str,
    entry: DrawerEntry | None,
    request: HttpRequest | None,
) -> None:
    """On the shop's to-do: done. The order is locked, and nobody gave it back before."""
    Refund.objects.get_or_create(order=order, defaults={"amount": amount, "since": order.final_at or clock.now()})
    Refund.objects.filter(order=order, given_at=None).update(
        amount=amount,
        method=method,
        note=note.strip()[:500],
        entry=entry,
        given_at=clock.now(),
        given_by=actor.pk,
    )
    facts = {"method": method.value, "amount": amount, "shift": entry.shift_id if entry else None}
    record(Kind.GIVEN_BACK, person=actor, request=request, subject=order.ref_id, facts=facts)


def _take_off_account(order: Order, method: Method, *, actor: User, customer: Customer | None, note: str) -> None:
    sale = credit.standing_sale(order.ref_id)
    is_on_account = sale is not None and sale.account.customer_id is not None
    if not is_on_account and method != Method.CREDIT:
        return  # also where its customer paid all and was deleted since: that account never changes again
    entry = credit.give_back_credit(order, actor=actor, customer=customer, reason=note)
    if method != Method.CREDIT:
        credit.pay_back(entry.account, amount=-entry.amount, method=method, actor=actor, ref_id=order.ref_id)


def unsettled(shifts: Sequence[Shift] | QuerySet[Shift]) -> QuerySet[Order]:
    """What was sold in these shifts and has not ended, or ended for nothing and was not given back; oldest first."""
    sold = DrawerEntry.objects.filter(shift__in=shifts, kind=DrawerEntry.Kind.SALE, undoes=None)
    # Said twice, so that the index of the entries with a ref_id is used.
    refunds = DrawerEntry.objects.filter(ref_id=OuterRef("ref_id"), ref_id__gt="", kind=DrawerEntry.Kind.REFUND)
    on_credit = CreditEntry.objects.filter(ref_id=OuterRef("ref_id"), ref_id__gt="", kind=CreditEntry.Kind.REFUND)
    stands = Q(status__in=sorted(OPEN)) | Q(status__in=sorted(OWED), given_back=None, refund__given_at=None)
    return Order.objects.filter(
        stands, ~Exists(refunds), ~Exists(on_credit), ref_id__in=sold.values("ref_id")
    ).order_by("pk")


def _words(method: Method, shift: Shift | None) -> str:
    if shift and method == Method.CASH:
        return _("Cash from the drawer “%(drawer)s”") % {"drawer": shift.drawer.name}
    return str(method.label)
