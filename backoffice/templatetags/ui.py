"""Template filters and tags that every page may use without loading them."""

import datetime as dt
import re
from functools import cache
from pathlib import Path

import structlog
from babel.dates import format_datetime, format_timedelta
from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from backoffice.money import rupiah as format_rupiah
from purchases.order_life import Status

log = structlog.get_logger()
register = template.Library()

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


@cache
def _icon_svg(name: str) -> SafeString:
    path: Path = settings.NODE_MODULES / "@tabler/icons/icons/outline" / f"{name}.svg"
    inner = re.sub(r"^.*?<svg.*?>|</svg>\s*$", "", path.read_text(), flags=re.DOTALL)
    shapes = re.sub(r"\s*\n\s*", "", inner).replace('<path stroke="none" d="M0 0h24v24H0z" fill="none" />', "")
    return mark_safe(  # noqa: S308 - our own icon package, and `name` comes from templates only
        '<svg class="icon" width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor"'
        ' stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">'
        f"{shapes}</svg>"
    )


@register.simple_tag
def icon(name: str) -> SafeString:
    """`{% icon "check" %}`: that Tabler icon inline, hidden from screen readers (the text beside it speaks)."""
    try:
        return _icon_svg(name)
    except FileNotFoundError:
        # The packages are being installed anew under a running shop; a decoration must not cost the page.
        log.warning("icon_missing", icon=name)
        return SafeString()


@register.simple_tag
def status_badge(status: str) -> SafeString:
    """`{% status_badge order.status %}`: icon, word and colour of an order's status."""
    known = Status(status)
    return format_html(
        '<span class="status status-{}">{}{}</span>', known.value, icon(STATUS_ICONS[known]), known.label
    )


def _locale() -> str:
    return get_language() or settings.LANGUAGE_CODE


@register.filter
def clock(at: dt.datetime | None) -> str:
    """`{{ at|clock }}`: the absolute time in Asia/Jakarta, to the second, e.g. "17 Nov 2026 14.05.09 WIB"."""
    if at is None:
        return "–"
    return format_datetime(timezone.localtime(at), "d MMM yyyy HH:mm:ss", locale=_locale()) + " WIB"


@register.simple_tag
def moment(at: dt.datetime | None) -> SafeString:
    """`{% moment at %}`: "3 minutes ago" for a day, then the date; the absolute time in its tooltip.

    The page's script keeps the relative text fresh (`data-relative`).
    """
    if at is None:
        return mark_safe("–")
    age = timezone.now() - at
    if abs(age) < dt.timedelta(days=1):
        shown = format_timedelta(-age, add_direction=True, locale=_locale(), threshold=0.99)
        marker = mark_safe(" data-relative")
    else:
        shown = format_datetime(timezone.localtime(at), "d MMM yyyy, HH:mm", locale=_locale())
        marker = mark_safe("")
    return format_html('<time datetime="{}" title="{}"{}>{}</time>', at.isoformat(), clock(at), marker, shown)
