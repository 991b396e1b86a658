"""The statement and its files, and the daily closing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import chain

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from core import exports
from core.access import StaffRequest, staff_only
from core.paging import kept_filters, keyset_page
from core.times import shop_day, start_of_day
from gateway.services import last_reading_before
from ledger import services
from ledger.filters import BILLS, PURCHASES, StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable


@staff_only("ledger.view_entry")
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that the filters in the URL leave, newest first, 50 a page."""
    found = _found(request)
    page = keyset_page(found.qs, request.GET, time_field="at")
    return render(request, "ledger/statement.html", {"filter": found, "page": page, "table": StatementTable(page.rows)})


def _found(request: StaffRequest) -> StatementFilter:
    return StatementFilter(request.GET, queryset=Entry.objects.select_related("actor").order_by("pk"))


@staff_only("ledger.view_entry")
@require_GET
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read; UTF-8 is announced, because spreadsheets guess wrongly."""
    found = _found(request)
    if not found.is_valid():
        return _no_file(request, found, found.faults)
    return StreamingHttpResponse(
        chain(["\ufeff"], exports.csv_blocks(found.qs, StatementTable.export)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_file_name()}.csv"'},
    )


@staff_only("ledger.view_entry")
@require_GET
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as a workbook."""
    found = _found(request)
    if not found.is_valid():
        return _no_file(request, found, found.faults)
    try:
        file = exports.workbook(found.qs, StatementTable.export)
    except exports.TooManyRows as refusal:
        return _no_file(request, found, str(refusal))
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"{_file_name()}.xlsx",
        content_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )


def _no_file(request: StaffRequest, found: StatementFilter, why: str) -> HttpResponse:
    """Never more, and never less, than what was asked for."""
    context = {"filter": found, "no_file": why, "kept": kept_filters(request.GET)}
    return render(request, "ledger/statement.html", context, status=400)


def _file_name() -> str:
    return f"statement-{timezone.localtime():%Y-%m-%d-%H%M}"


@staff_only("ledger.view_entry")
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """To the day that `day` names, else to today."""
    try:
        day = shop_day(request.GET.get("day", ""))
    except ValueError:
        day = timezone.localdate()
    return redirect("closing", day=day.isoformat())


@staff_only("ledger.view_entry")
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
    first_day = services.first_day() or today
    next_day = shown + dt.timedelta(days=1)
    closed = services.day_closings(shown, shown)[0]
    opened_at = services.books().opened_at
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
    """One line of a closing: its words, the kind of its entries for the statement, how many, and rupiah (signed)."""

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
        ClosingLine(words=words, kind=kind, count=closed.counts[name], amount=getattr(closed, name))
        for name, (words, kind) in named.items()
        if name not in {"opened_with", "reversals"} or closed.counts[name]
    ]
