"""The daily closing: a day's effect on the balance, and the last comparison of that day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.rights import Right
from core.times import shop_day, shop_day_or_today, start_of_day
from gateway.services import last_reading_before
from ledger import services
from ledger.filters import BILLS, PURCHASES
from ledger.models import Entry


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """To the day that `day` names, else to today."""
    return redirect("closing", day=shop_day_or_today(request.GET.get("day", "")).isoformat())


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_GET
def closing(request: StaffRequest, day: str) -> HttpResponse:
    """The effect of one day (Asia/Jakarta) on the balance, and its proof; fit for paper."""
    today = timezone.localdate()
    try:
        shown = shop_day(day)
    except ValueError:
        raise Http404 from None
    if shown > today:
        raise Http404
    days = services.read_days(shown, shown)
    first_day, closed, opened_at = days.first_day or today, days.closings[0], days.books.opened_at
    next_day = shown + dt.timedelta(days=1)
    context = {
        "closing": closed,
        "lines": _lines(closed),
        "today": today,
        "is_today": shown == today,
        # without an opening balance nothing can add up
        "is_before": opened_at is None or shown < timezone.localdate(opened_at),
        "reported": last_reading_before(start_of_day(next_day)),
        "previous": shown - dt.timedelta(days=1) if shown > first_day else None,
        "next": next_day if shown < today else None,
        "first_day": first_day,
    }
    return render(request, "reconciliation/closing.html", context)


@dataclass(frozen=True)
class ClosingLine:
    """One line of a closing: name, words, the kind of its entries for the statement, how many, and rupiah (signed)."""

    name: str
    words: str
    kind: str
    count: int
    amount: int


def _lines(closed: services.DayClosing) -> list[ClosingLine]:
    named = {
        "opened_with": (_("Books opened with"), Entry.Kind.OPENING),
        "purchases": (_("Purchases"), PURCHASES),
        "bills": (_("Bill payments"), BILLS),
        "refunds": (_("Refunds"), Entry.Kind.REFUND),
        "reversals": (_("Reversals"), Entry.Kind.REVERSAL),
        "top_ups": (_("Top-ups"), Entry.Kind.TOPUP),
        "adjustments": (_("Adjustments"), Entry.Kind.ADJUSTMENT),
    }
    return [
        ClosingLine(name=name, words=words, kind=kind, count=closed.counts[name], amount=getattr(closed, name))
        for name, (words, kind) in named.items()
        if name not in {"opened_with", "reversals"} or closed.counts[name]
    ]
