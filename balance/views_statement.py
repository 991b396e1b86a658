"""The statement and its files, and the daily closing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from backoffice.access import StaffRequest, staff_only
from backoffice.paging import keyset_page
from balance import exports, services
from balance.filters import EntryFilter
from balance.models import Entry, OrderKind, ReconciliationRun
from balance.models.ledger import EntryQuerySet

ROWS = 50


def _filtered(request: StaffRequest) -> EntryFilter:
    query = request.GET.copy()
    for name in query:
        query[name] = query.get(name, "").replace("\0", "")  # PostgreSQL refuses a NUL
    return EntryFilter(query, queryset=Entry.objects.select_related("actor"))


@staff_only("balance.view_entry")
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that the filters in the URL leave, newest first, 50 a page."""
    found = _filtered(request)
    page = keyset_page(found.qs, request.GET, time_field="at", size=ROWS)
    kept = found.data.copy()
    for name in [name for name in kept if name in {"older", "newer"} or not kept[name]]:
        del kept[name]
    context = {"filter": found, "page": page, "kept": kept, "is_filtered": bool(kept)}
    return render(request, "balance/statement.html", context)


def _for_file(request: StaffRequest) -> EntryQuerySet:
    """What the statement shows with the same filters, oldest first."""
    entries: EntryQuerySet = _filtered(request).qs.order_by("pk")
    return entries


@staff_only("balance.view_entry")
@require_GET
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read."""
    return StreamingHttpResponse(
        exports.csv_lines(_for_file(request)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{_file_name()}.csv"'},
    )


@staff_only("balance.view_entry")
@require_GET
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as a workbook."""
    return FileResponse(
        exports.workbook(_for_file(request)),
        as_attachment=True,
        filename=f"{_file_name()}.xlsx",
        content_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )


def _file_name() -> str:
    return f"statement-{timezone.localtime():%Y-%m-%d-%H%M}"


@staff_only("balance.view_entry")
@require_GET
def closing_today(request: StaffRequest) -> HttpResponse:
    """To the day that `day` names, else to today."""
    return redirect("closing", day=(_read(request.GET.get("day", "")) or timezone.localdate()).isoformat())


@staff_only("balance.view_entry")
@require_GET
def closing(request: StaffRequest, day: str) -> HttpResponse:
    """What one day (Asia/Jakarta) did to the balance, and that it adds up; fit for paper."""
    shown = _read(day)
    today = timezone.localdate()
    if shown is None or shown > today:
        raise Http404
    closing = services.day_closings(shown, shown)[0]
    return render(request, "balance/closing.html", _closing_facts(closing, today))


@dataclass(frozen=True)
class ClosingLine:
    """One line of a closing: its words, the kind of its entries for the statement, how many, and rupiah (signed)."""

    words: str
    kind: str
    count: int
    amount: int


def _closing_facts(closing: services.DayClosing, today: dt.date) -> dict[str, Any]:
    first = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    first_day = timezone.localdate(first) if first else today
    day, one = closing.day, dt.timedelta(days=1)
    of_day = Entry.objects.between(_midnight(day), _midnight(day + one))
    counts: dict[str, int] = {}
    for kind, order_kind, count in of_day.order_by().values_list("kind", "order_kind").annotate(n=Count("pk")):
        name = order_kind if kind == Entry.Kind.DEBIT else kind
        counts[name] = counts.get(name, 0) + count
    named = {
        "purchases": (_("Purchases"), OrderKind.PURCHASE, Entry.Kind.DEBIT),
        "bills": (_("Bill payments"), OrderKind.BILL, Entry.Kind.DEBIT),
        "refunds": (_("Refunds"), Entry.Kind.REFUND, Entry.Kind.REFUND),
        "top_ups": (_("Top-ups"), Entry.Kind.TOPUP, Entry.Kind.TOPUP),
        "adjustments": (_("Adjustments"), Entry.Kind.ADJUSTMENT, Entry.Kind.ADJUSTMENT),
    }
    if counts.get(Entry.Kind.OPENING):
        named = {"opened_with": (_("Books opened with"), Entry.Kind.OPENING, Entry.Kind.OPENING), **named}
    lines = [
        ClosingLine(words=words, kind=kind, count=counts.get(counted, 0), amount=getattr(closing, name))
        for name, (words, counted, kind) in named.items()
    ]
    return {
        "closing": closing,
        "lines": lines,
        "off_by": closing.closing - closing.opening - sum(line.amount for line in lines),
        "day_text": day.isoformat(),
        "today": today,
        "is_today": day == today,
        "is_before": day < first_day,
        "previous": day - one if day > first_day else None,
        "next": day + one if day < today else None,
        "first_day": first_day,
        "run": ReconciliationRun.objects.filter(at__lt=_midnight(day + one), at__gte=_midnight(day)).first(),
    }


def _midnight(day: dt.date) -> dt.datetime:
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))


def _read(day: str) -> dt.date | None:
    """The day that is written so; None for what is no day of this shop's time."""
    try:
        found = dt.date.fromisoformat(day)
    except ValueError:
        return None
    return found if found.year >= 2000 else None
