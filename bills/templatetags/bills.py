"""Template tags about bills, also for the pages of the orders that pay them (`{% load bills %}`)."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from backoffice.icons import icon
from bills.models import BillCheck, State
from bills.presenting import Funds, ShownBill
from purchases.models import Order

register = template.Library()

# Icon and colour of each state; the word stands beside, so that colour is never the only sign.
STATE_LOOKS = {
    State.PENDING: ("loader", "pending"),
    State.VALID: ("file-invoice", "queued"),
    State.EXPIRED: ("clock-x", "warn"),
    State.PAID: ("circle-check", "success"),
    State.NOT_PAYABLE: ("ban", "bad"),
}


@register.simple_tag
def state_badge(state: str) -> SafeString:
    """`{% state_badge bill.state %}`: icon, word and colour of a check's state."""
    known = State(state)
    name, look = STATE_LOOKS[known]
    return format_html('<span class="status status-{}">{}{}</span>', look, icon(name), known.label)


@register.filter
def state_look(state: str) -> str:
    """`{{ bill.state|state_look }}`: the name of the state's colour in the style sheets."""
    return STATE_LOOKS[State(state)][1]


# In a few words, for lists; the bill's own page explains.
REASONS = {
    "BILL_ALREADY_PAID": _("Already paid"),
    "BILL_NOT_AVAILABLE": _("No bill"),
    "BILL_NOT_FOUND": _("No bill"),
    "NOTHING_TO_PAY": _("Nothing to pay"),
    "INVALID_DESTINATION": _("Number not known"),
    "PRODUCT_UNAVAILABLE": _("Biller not reachable"),
    "CUT_OFF": _("Closed for the night"),
}


@register.filter
def name_or_reason(check: BillCheck) -> str:
    """`{{ check|name_or_reason }}`: whose bill it is, or why there is none."""
    return check.customer_name or str(REASONS.get(check.error_code, check.message))


@register.simple_tag
def bill_of(order: Order) -> ShownBill | None:
    """`{% bill_of order as bill %}`: the bill that this order pays; None for a purchase."""
    if order.kind != Order.Kind.BILL:
        return None
    check = (
        BillCheck.objects.select_related("product__brand", "product__category", "checked_by")
        .filter(ref_id=order.ref_id)
        .first()
    )
    return ShownBill(check=check, order=order) if check else None


@register.simple_tag
def funds_for(total: int) -> Funds:
    """`{% funds_for bill.check.total as funds %}`: the balance, and what a payment of `total` rupiah leaves of it."""
    return Funds.for_paying(total)


@register.filter
def countdown(seconds: int) -> str:
    """`{{ bill.seconds_left|countdown }}`: 272 → "4:32"."""
    return f"{seconds // 60}:{seconds % 60:02d}"
