"""The statement and its files, and the daily closing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from backoffice.access import StaffRequest, staff_only
from backoffice.paging import kept_filters, keyset_page
from balance import exports, services
from balance.errors import NotPossible
from balance.filters import BILLS, PURCHASES, StatementFilter
from balance.models import Entry, ReconciliationRun

ROWS = 50


@staff_only("balance.view_entry")
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that the filters in the URL leave, newest first, 50 a page."""
    found = StatementFilter(request.GET)
    page = keyset_page(found.entries(), request.GET, time_field="at", size=ROWS)
    return render(request, "balance/statement.html", {**_kept(request), "form": found, "page": page})


def _kept(request: StaffRequest) -> dict[str, Any]:
    kept = kept_filters(request.GET)
    return {"kept": kept, "is_filtered": bool(kept)}


@staff_only("balance.view_entry")
@require_GET
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read; UTF-8 is announced, because spreadsheets guess wrongly."""
    asked = StatementFilter(request.GET)
    if not asked.is_valid():
        return _no_file(request, asked, asked.faults())
    return StreamingHttpResponse(
        chain(["\ufeff"], exports.csv_lines(asked.entries())),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_file_name()}.csv"'},
    )


@staff_only("balance.view_entry")
@require_GET
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as a workbook."""
    asked = StatementFilter(request.GET)
    if not asked.is_valid():
        return _no_file(request, asked, asked.faults())
    try:
        file = exports.workbook(asked.entries())
    except NotPossible as refusal:
        return _no_file(request, asked, str(refusal))
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"{_file_name()}.xlsx",
        content_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )


def _no_file(request: StaffRequest, asked: StatementFilter, why: str) -> HttpResponse:
    """Never more, and never less, than what was asked for."""
    context = {**_kept(request), "form": asked, "no_file": why}
    return render(request, "balance/statement.html", context, status=400)


def _file_name() -> str:
    return f"statement-{timezone.localtime():%Y-%m-%d-%H%M}"


@staff_only("balance.view_entry")
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """To the day that `day` names, else to today."""
    try:
        day = services.shop_day(request.GET.get("day", ""))
    except ValueError:
        day = timezone.localdate()
    return redirect("closing", day=day.isoformat())


@staff_only("balance.view_entry")
@require_GET
def closing(request: StaffRequest, day: str) -> HttpResponse:
    """What one day (Asia/Jakarta) did to the balance, and that it adds up; fit for paper."""
    today = timezone.localdate()
    try:
        shown = services.shop_day(day)
    except ValueError:
        raise Http404 from None
    if shown > today:
        raise Http404
    first_day = services.first_day() or today
    next_day = shown + dt.timedelta(days=1)
    closed = services.day_closings(shown, shown)[0]
    runs = ReconciliationRun.objects.filter(
        at__gte=services.start_of_day(shown), at__lt=services.start_of_day(next_day)
    )
    context = {
        "closing": closed,
        "lines": _lines(closed),
        "today": today,
        "is_today": shown == today,
        "is_before": shown < first_day,
        "previous": shown - dt.timedelta(days=1) if shown > first_day else None,
        "next": next_day if shown < today else None,
        "first_day": first_day,
        "run": runs.first(),
    }
    return render(request, "balance/closing.html", context)


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
        "top_ups": (_("Top-ups"), Entry.Kind.TOPUP),
        "adjustments": (_("Adjustments"), Entry.Kind.ADJUSTMENT),
    }
    return [
        ClosingLine(words=words, kind=kind, count=closed.counts[name], amount=getattr(closed, name))
        for name, (words, kind) in named.items()
        if name != "opened_with" or closed.counts[name]
    ]
