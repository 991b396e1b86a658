"""Template tags about drawers, also for the pages of orders and their receipts (`{% load drawers %}`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from core.access import StaffRequest
from core.money import signed_in_words
from core.numbers import sees_whole_numbers
from core.rights import Right
from core.together import read_together
from credit.forms import offered_customers
from credit.models import MONEY
from credit.services import standing_sales
from customers.models import Customer
from drawers import presenting
from drawers.forms import GiveBackForm, PaymentForm
from drawers.models import Drawer, DrawerEntry, Method, Shift
from drawers.presenting import ShownSale
from drawers.services import current_sales
from purchases.models import Order
from purchases.receipts import whatsapp_address
from purchases.templatetags.receipts import Message
from shop.presenting import Letterhead
from staff.models import User

register = template.Library()


@register.simple_tag
def shift_badge(shift: Shift) -> SafeString:
    """`{% shift_badge shift %}`: icon, word and colour of where a shift stands."""
    return presenting.shift_badge(shift)


@register.simple_tag
def shift_link(shift: Shift, person: User, words: object = "") -> SafeString:
    """`{% shift_link shift user words %}`: the words, else its number; the way to the shift for who may see it."""
    words = words or f"{gettext('Shift')} {shift.pk}"
    if not presenting.may_see_shift(shift, person):
        return format_html("{}", words)
    return format_html('<a href="{}">{}</a>', shift.get_absolute_url(), words)


@register.filter
def with_sign(amount: int) -> str:
    """`{{ amount|with_sign }}`: rupiah with its sign, which stays on the amount's line."""
    return signed_in_words(amount)


@register.simple_tag
def sale_of(order: Order, person: User) -> ShownSale | None:
    """`{% sale_of order user as sale %}`: how the order was paid, if it is in a drawer that this person may see."""
    return presenting.shown_sale(order, person)


@register.simple_tag
def forms_of(sale: ShownSale, person: User) -> dict[str, Any]:
    """`{% forms_of sale user as forms %}`: to change how it was paid, and to note that it was given back.

    `others`: the methods that one press chooses.
    """
    # On an account from the first moment, also before it has entered the drawer.
    method = sale.entry.method if sale.entry else Method.CREDIT if sale.debt else Method.CASH
    paid: dict[str, Any] = {"method": method, "customer": sale.debtor}
    others = [choice for choice in Method.choices if choice[0] not in {Method.CREDIT, method}]
    return {
        "others": others if sale.may_change else [],
        "payment": PaymentForm(
            initial={**paid, "cash_given": sale.entry.cash_given if sale.entry else None}, auto_id="paid-%s"
        )
        if sale.may_change
        else None,
        "give_back": GiveBackForm(initial=paid, person=person, debt=sale.debt, auto_id="back-%s")
        if sale.is_owed and sale.may_give_back
        else None,
    }


@register.inclusion_tag("drawers/paid_by.html")
def paid_by(request: StaffRequest, destination: str) -> dict[str, Any]:
    """`{% paid_by request destination %}`: inside the form that places an order, how the customer pays.

    Cash unless somebody chooses. Nothing for who neither has a drawer open nor sells on credit; but who could have a
    drawer open and has none reads that the sale is in no shift.
    """
    person = request.user
    may_owe, may_use = person.has_perm(Right.USE_CREDIT), person.has_perm(Right.USE_DRAWERS)
    if not (may_owe or may_use):
        return {}
    shifts, drawers, owners, names = read_together(
        Shift.objects.filter(cashier=person.pk, closed_at=None),
        Drawer.objects.filter(is_active=True).order_by("pk")[:1],
        Customer.objects.filter(credit__cap__gt=0, numbers__destination=destination).order_by("pk")[:1],
        offered_customers(),
    )
    may_owe = may_owe and bool(names)
    kept = {Method.CASH, *(MONEY if shifts else ()), *((Method.CREDIT,) if may_owe else ())}
    return {
        "methods": [method for method in Method if method in kept] if len(kept) > 1 else [],
        "chosen": request.POST.get("paid_by") or Method.CASH.value,
        "cash_given": request.POST.get("cash_given", ""),
        "has_drawer": bool(shifts),
        "is_in_no_shift": may_use and bool(drawers) and not shifts,
        "may_owe": may_owe,
        "customer": request.POST.get("paid_by_customer") or (owners[0].name if owners else ""),
        "names": names,
    }


@register.simple_tag
def refund_message_of(sale: ShownSale, head: Letterhead) -> Message | None:
    """`{% refund_message_of sale head as message %}`; None for whoever sees no whole numbers, as `message_of`."""
    if not sees_whole_numbers():
        return None
    text = presenting.refund_text(sale, head)
    return Message(text, whatsapp_address(sale.order, text))


@dataclass(frozen=True)
class PaidTogether:
    """How several orders on one paper were paid; rupiah. `words`: the method, where it was no cash."""

    words: str
    cash_given: int | None
    change: int


@register.simple_tag
def paid_together(orders: Iterable[Order]) -> PaidTogether | None:
    """`{% paid_together sheet.orders as paid %}`; None where they were not all paid in one way that somebody noted."""
    found = current_sales([order.ref_id for order in orders])
    methods = {sale.method if sale else "" for sale in found.values()}
    if len(methods) != 1 or methods == {""}:
        return None
    sales = [sale for sale in found.values() if sale]
    if methods != {Method.CASH}:
        return PaidTogether(sales[0].get_method_display(), None, 0)
    if any(sale.cash_given is None for sale in sales):
        return None
    return PaidTogether("", sum(sale.cash_given or 0 for sale in sales), sum(sale.change or 0 for sale in sales))


# Where an order keeps what a page has read of it.
_PAID = "_paid_of"
# What the customer of an example gives.
_EXAMPLE_CASH = 100_000


@register.simple_tag
def paid_of(order: Order) -> DrawerEntry | None:
    """`{% paid_of order as paid %}`: the entry of its sale, for receipt and text; None while it is in no drawer.

    Of an order that is on an account and in no drawer, or not yet, one like it; of an example, one in cash.
    """
    if order.pk is None:
        return DrawerEntry(method=Method.CASH, amount=order.customer_pays, cash_given=_EXAMPLE_CASH)
    known = vars(order)  # asked once for a page, which may show paper and text
    if _PAID not in known:
        sales = DrawerEntry.objects.current().filter(ref_id=order.ref_id, ref_id__gt="", kind=DrawerEntry.Kind.SALE)
        entries, debts = read_together(sales, standing_sales([order.ref_id]))
        on_account = DrawerEntry(method=Method.CREDIT, amount=order.customer_pays) if debts else None
        known[_PAID] = entries[0] if entries else on_account
    found: DrawerEntry | None = known[_PAID]
    return found
