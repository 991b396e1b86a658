"""The statement and its files, and the daily closing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.times import shop_day, start_of_day
from exports.lists import ListFile
from gateway.services import last_reading_before
from ledger import services
from ledger.filters import BILLS, PURCHASES, StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable


@staff_only("ledger.view_entry", "catalogue.view_cost")
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that the filters in the URL leave, newest first, 50 a page."""
    found = _found(request)
    page = keyset_page(found.qs, request.GET, time_field="at")
    return render(request, "ledger/statement.html", {"filter": found, "page": page, "table": StatementTable(page.rows)})


def _found(request: StaffRequest) -> StatementFilter:
    return StatementFilter(request.GET, queryset=Entry.objects.with_actors())


def _show_statement(request: StaffRequest, context: dict[str, Any], status: int) -> HttpResponse:
    return render(request, "ledger/statement.html", context, status=status)


FILE = ListFile(
    name="statement",
    task="ledger.tasks.write_statement",
    permission="ledger.view_entry catalogue.view_cost",
    fields=StatementTable.export,
    show=_show_statement,
)


@staff_only("ledger.view_entry", "catalogue.view_cost")
@require_http_methods(["GET", "POST"])
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read; a long one is asked of the worker (POST)."""
    return FILE.csv(request, _found(request))


@staff_only("ledger.view_entry", "catalogue.view_cost")
@require_http_methods(["GET", "POST"])
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """Ask the worker for the filtered statement as a workbook."""
    return FILE.xlsx(request, _found(request))


@staff_only("ledger.view_entry", "catalogue.view_cost")
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """To the day that `day` names, else to today."""
    try:
        day = shop_day(request.GET.get("day", ""))
    except ValueError:
        day = timezone.localdate()
    return redirect("closing", day=day.isoformat())


@staff_only("ledger.view_entry", "catalogue.view_cost")
@require_GET
def closing(request: StaffRequest, day: str) -> HttpResponse:
    """What one day (Asia/Jakarta) did to the balance, and that it adds up; fit for paper."""
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
    return render(request, "ledger/closing.html", context)


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
