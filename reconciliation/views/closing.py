"""The balance by day: a day's effect on the balance, and the findings of comparisons about it."""

import datetime as dt

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.rights import Right
from core.times import shop_day, shop_day_or_today
from reconciliation.presenting import shown_day


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """Redirect to the day that `day` names, else to today."""
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
    provider = shown_day(shown)
    context = {
        "provider": provider,
        "closing": provider.closing,
        "today": today,
        "previous": shown - dt.timedelta(days=1) if shown > provider.facts.first_day else None,
        "next": shown + dt.timedelta(days=1) if shown < today else None,
        "first_day": provider.facts.first_day,
    }
    return render(request, "reconciliation/closing.html", context)
