"""Giving a customer the money back, out of a drawer. Nothing does so by itself: it is entered when somebody did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from core import clock
from credit import services as credit
from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Method, Shift
from drawers.services.locking import lock_shift, open_shift_of, refuse_unless_own
from drawers.services.sales import catch_up, current_sale, enter_sales
from purchases.models import GivenBack, Order
from purchases.services import lock_order_for_move, note_given_back
from purchases.states import FINAL, OPEN, Status

if TYPE_CHECKING:
    from customers.models import Customer
    from staff.models import User

# The customer has nothing for the money.
OWED = frozenset(FINAL - {Status.SUCCESS})


def give_back(
    order: Order, *, shift: Shift, method: str, actor: User, customer: Customer | None = None, note: str = ""
) -> DrawerEntry:
    """Enter in this shift that the customer has the whole price back, by `method`. Raises `DrawerRefused`.

    The order has ended without success, was sold in a drawer, and nobody gave it back before. A reversed one is noted
    as given back, too, in the same transaction. On credit it comes off the account on which it was sold, else off that
    of `customer`; a sale on credit goes back in money only if the customer has paid it. Raises `CreditRefused`, too.
    """
    chosen = Method(method)
    if order.placed_by_id and (selling := open_shift_of(order.placed_by_id)):
        catch_up(selling)  # by itself: nobody holds two shifts at once
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if current.status not in OWED:
            raise DrawerRefused("not_owed")
        paying = lock_shift(shift.pk)
        refuse_unless_own(paying, actor)
        enter_sales(paying)
        sale = current_sale(current.ref_id)
        if sale is None:
            raise DrawerRefused("no_sale")
        if is_given_back(current):
            raise DrawerRefused("given_back")
        _take_off_account(current, chosen, actor=actor, customer=customer, note=note)
        if current.status == Status.REVERSED:
            note_given_back(current, actor=actor, note=note.strip() or _words(chosen, paying))
        return DrawerEntry.objects.create(
            shift=paying,
            kind=DrawerEntry.Kind.REFUND,
            method=chosen,
            amount=-sale.amount,
            ref_id=current.ref_id,
            reason=note.strip()[:500],
            person_id=actor.pk,
            at=clock.now(),
            sold_in=None if sale.shift_id == paying.pk else sale.shift,
        )


def _take_off_account(order: Order, method: Method, *, actor: User, customer: Customer | None, note: str) -> None:
    sale = credit.standing_sale(order.ref_id)
    if sale is None and method != Method.CREDIT:
        return
    entry = credit.give_back_credit(order, actor=actor, customer=customer, reason=note)
    if method != Method.CREDIT:
        credit.pay_back(entry.account, amount=-entry.amount, method=method, actor=actor, ref_id=order.ref_id)


def is_given_back(order: Order) -> bool:
    """Whether somebody noted that the customer has the money back: here, on the order, or on an account."""
    refunds = DrawerEntry.objects.filter(ref_id=order.ref_id, kind=DrawerEntry.Kind.REFUND)
    if refunds.exists() or credit.is_given_back_on_credit(order.ref_id):
        return True
    return GivenBack.objects.filter(order=order).exists()


def unsettled(shifts: Sequence[Shift] | QuerySet[Shift]) -> QuerySet[Order]:
    """What was sold in these shifts and has not ended, or ended for nothing and was not given back; oldest first."""
    sold = DrawerEntry.objects.filter(shift__in=shifts, kind=DrawerEntry.Kind.SALE, undoes=None)
    # Said twice, so that the index of the entries with a ref_id is used.
    refunds = DrawerEntry.objects.filter(ref_id=OuterRef("ref_id"), ref_id__gt="", kind=DrawerEntry.Kind.REFUND)
    on_credit = CreditEntry.objects.filter(ref_id=OuterRef("ref_id"), ref_id__gt="", kind=CreditEntry.Kind.REFUND)
    stands = Q(status__in=sorted(OPEN)) | Q(status__in=sorted(OWED), given_back=None)
    return Order.objects.filter(
        stands, ~Exists(refunds), ~Exists(on_credit), ref_id__in=sold.values("ref_id")
    ).order_by("pk")


def _words(method: Method, shift: Shift) -> str:
    if method == Method.CASH:
        return _("Cash from the drawer “%(drawer)s”") % {"drawer": shift.drawer.name}
    return str(method.label)
