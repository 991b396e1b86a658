"""The statement and its files, and the daily closing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from core.access import StaffRequest, staff_only
from core.live import expect_news
from core.paging import kept_filters, keyset_page
from core.times import shop_day, start_of_day
from exports.errors import TooManyFiles, TooManyRows
from exports.formats import csv_blocks
from exports.models import Export
from exports.services import request_file
from gateway.services import last_reading_before
from ledger import services
from ledger.filters import BILLS, PURCHASES, StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable

# A longer statement is written by the worker: a browser's request holds one of the few threads of the pages.
MOST_AT_ONCE = 50_000


@staff_only("ledger.view_entry")
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that the filters in the URL leave, newest first, 50 a page."""
    found = _found(request)
    page = keyset_page(found.qs, request.GET, time_field="at")
    return render(request, "ledger/statement.html", {"filter": found, "page": page, "table": StatementTable(page.rows)})


def _found(request: StaffRequest) -> StatementFilter:
    return StatementFilter(request.GET, queryset=Entry.objects.with_actors())


@staff_only("ledger.view_entry")
@require_http_methods(["GET", "POST"])
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read; a long one is asked of the worker (POST)."""
    found = _found(request)
    if not found.is_valid():
        return _no_file(request, found, found.faults)
    if request.method == "POST":
        return _ask_for_file(request, found, Export.Format.CSV)
    if found.qs.order_by()[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE:
        why = _("These are more than %(most)s entries. The file is made in the background.")
        most = number_format(MOST_AT_ONCE, force_grouping=True)
        return _no_file(request, found, why % {"most": most}, may_ask=Export.Format.CSV)
    return StreamingHttpResponse(
        chain(["\ufeff"], csv_blocks(found.qs.iterator(), StatementTable.export)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="statement-{timezone.localtime():%Y-%m-%d-%H%M}.csv"'},
    )


@staff_only("ledger.view_entry")
@require_http_methods(["GET", "POST"])
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """Ask the worker for the filtered statement as a workbook."""
    found = _found(request)
    if not found.is_valid():
        return _no_file(request, found, found.faults)
    if request.method == "POST":
        return _ask_for_file(request, found, Export.Format.XLSX)
    return _no_file(request, found, _("The file is made in the background."), may_ask=Export.Format.XLSX)


def _ask_for_file(request: StaffRequest, found: StatementFilter, file_format: Export.Format) -> HttpResponse:
    try:
        request_file(
            owner=request.user,
            list_name="statement",
            task="ledger.tasks.write_statement",
            permission="ledger.view_entry",
            query=urlencode({name: request.GET[name] for name in found.form.fields if request.GET.get(name)}),
            file_format=file_format,
            found=found.qs,
        )
    except TooManyRows as refusal:
        return _no_file(request, found, str(refusal))
    except TooManyFiles as refusal:
        messages.error(request, str(refusal))
    expect_news(request)
    return redirect("export_list")


def _no_file(request: StaffRequest, found: StatementFilter, why: str, *, may_ask: str = "") -> HttpResponse:
    """Never more, and never less, than what was asked for. `may_ask`: the format that the worker can make of it."""
    context = {"filter": found, "no_file": why, "may_ask": may_ask, "kept": kept_filters(request.GET)}
    return render(request, "ledger/statement.html", context, status=200 if may_ask else 400)


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
