"""Template filters and tags that every page may use without loading them."""

import datetime as dt

from babel.dates import format_datetime, format_timedelta
from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from backoffice.icons import icon
from backoffice.money import rupiah as format_rupiah
from backoffice.times import active_locale, clock
from purchases.order_life import Status

register = template.Library()
register.simple_tag(icon)
register.filter(clock)

# The eye finds the status first: each has its own icon, so that colour is never the only sign.
STATUS_ICONS = {
    Status.QUEUED: "clock",
    Status.SENDING: "send",
    Status.PENDING: "loader",
    Status.UNKNOWN: "help-circle",
    Status.HELD: "player-pause",
    Status.SUCCESS: "circle-check",
    Status.FAILED: "circle-x",
    Status.REJECTED: "ban",
    Status.CANCELLED: "circle-minus",
}


@register.filter
def rupiah(amount: int | None) -> str:
    """`{{ order.price|rupiah }}`: "Rp150.000", or a dash where the amount is not known."""
    return "–" if amount is None else format_rupiah(amount)


@register.simple_tag
def status_badge(status: str) -> SafeString:
    """`{% status_badge order.status %}`: icon, word and colour of an order's status."""
    known = Status(status)
    return format_html(
        '<span class="status status-{}">{}{}</span>', known.value, icon(STATUS_ICONS[known]), known.label
    )


@register.simple_tag
def moment(at: dt.datetime | None) -> SafeString:
    """`{% moment at %}`: "3 minutes ago" for a day, then the date; the absolute time in its tooltip.

    The page's script keeps the relative text fresh (`data-relative`).
    """
    if at is None:
        return mark_safe("–")
    age = timezone.now() - at
    if abs(age) < dt.timedelta(days=1):
        shown = format_timedelta(-age, add_direction=True, locale=active_locale(), threshold=0.99)
        marker = mark_safe(" data-relative")
    else:
        shown = format_datetime(timezone.localtime(at), "d MMM yyyy, HH:mm", locale=active_locale())
        marker = mark_safe("")
    return format_html('<time datetime="{}" title="{}"{}>{}</time>', at.isoformat(), clock(at), marker, shown)
