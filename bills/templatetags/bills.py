"""Template tags about bills, also for the pages of the orders that pay them (`{% load bills %}`)."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.states import Standing
from catalogue.rights import sees_cost
from core.numbers import still_seen
from ledger.presenting import Funds
from purchases.models import Order
from purchases.presenting import limits_shown
from staff.models import User
from upstream.error_codes import meaning_of

register = template.Library()


@register.simple_tag
def state_badge(standing: str) -> SafeString:
    """`{% state_badge bill.standing %}`: icon, word and colour of a check's state."""
    return Standing(standing).state.badge


@register.filter
def name_or_reason(check: BillCheck) -> str:
    """`{{ check|name_or_reason }}`: the customer of the bill, or in a few words the reason for none."""
    return still_seen(check.customer_name) or (str(meaning_of(check.error_code).brief) if check.error_code else "")


@register.simple_tag
def bill_of(order: Order, person: User) -> ShownBill | None:
    """`{% bill_of order user as bill %}`: the bill that this order pays; None for a purchase."""
    if order.kind != Order.Kind.BILL:
        return None
    known = vars(order)  # a page shows it at several places
    if "_shown_bill" not in known:
        known["_shown_bill"] = next(iter(ShownBill.read(BillCheck.objects.filter(order=order), person)), None)
    shown: ShownBill | None = known["_shown_bill"]
    return shown


@register.inclusion_tag("bills/funds.html")
def funds_after(total: int, person: User, largest: int | None = None) -> dict[str, Any]:
    """`{% funds_after bill.check.total user %}`: the available money, and the rest after a payment of `total` rupiah.

    Also what the person may spend; `largest`: rupiah of the largest payment of several.
    """
    funds = Funds.now()
    return {
        "available": funds.available,
        "after": funds.after(total),
        "missing": funds.missing(total),
        "is_certain": funds.is_open,
        "with_cost": sees_cost(person),
        **limits_shown(person, total, largest=largest),
    }


@register.filter
def countdown(seconds: int) -> str:
    """`{{ bill.seconds_left|countdown }}`: 272 → "4:32"."""
    return f"{seconds // 60}:{seconds % 60:02d}"
