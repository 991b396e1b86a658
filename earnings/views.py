"""The shop's earnings: any period compared with another, and the same as a file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, pgettext_lazy
from django.views.decorators.http import require_GET

from audit.services import record
from branches.seeing import names_branches, own_branch, seen_in
from branches.services import branch_names
from catalogue.rights import sees_cost
from core.access import StaffRequest, staff_only
from core.numbers import note_as_seen
from core.periods import Period as Days
from core.rights import Right
from core.snapshot import snapshot
from earnings.beside import PERSON_DAYS, counted_of
from earnings.drawing import drawing_of, step_of
from earnings.journal_views import RIGHTS as JOURNAL_RIGHTS
from earnings.overview import Part
from earnings.periods import MOST_READ, NAMES, Chosen, compared_period, left_out, named_period
from earnings.presenting import BY, Line, Report, keys_shown, report_of, tiles_of
from earnings.services.people import only_reason, people_beside
from exports.events import EXPORT_MADE
from exports.formats import Fields, csv_answer, workbook_answer
from staff.models import User
from staff.presenting import lists_of

# The number of lines on the page of earnings.
_MOST = 50


@staff_only(Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
@require_GET
def earnings(request: StaffRequest) -> HttpResponse:
    """Show a period with its figures, its drawing, and its lines by brand, product, cashier or payment."""
    with snapshot(), _asked(request) as (chosen, by, keys):
        report = report_of(chosen, by, step=step_of(chosen), most=_MOST, reader=request.user)
        drawing = drawing_of(chosen, report.steps)
    with_cost = sees_cost(request.user)
    branches = [(None, _("Every branch")), *branch_names()] if names_branches() else []
    context = {
        "report": report,
        "drawing": drawing,
        "tiles": tiles_of(report.now, report.before, with_cost=with_cost),
        "with_cost": with_cost,
        "with_journal": request.user.has_perms(JOURNAL_RIGHTS) and own_branch() is None,
        "periods": [(name, words, replace(chosen, name=name).address) for name, words in NAMES.items()],
        "branches": [(key, words, replace(chosen, branch=key).address) for key, words in branches],
        "most_read": MOST_READ,
        "is_one_branch": chosen.branch is not None or own_branch() is not None,
        "keys": keys.items(),
        "left_out": left_out(request.GET, chosen, by),
    }
    return render(request, "earnings/earnings.html", context)


@staff_only(Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
@require_GET
def earnings_today(request: StaffRequest) -> HttpResponse:
    """The part of the overview: today, or the days and the branch that the address names."""
    part = Part.of(request.GET, request.user)
    return render(request, "earnings/today.html", {"part": part, **part.figures()})


@staff_only(Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
@require_GET
def earnings_beside(request: StaffRequest, pk: int) -> HttpResponse:
    """A person's days (`days`, any period; today without): the figures, and next to them those of the others.

    A part of the person's page; a separate page without htmx.
    """
    person = get_object_or_404(User, pk=pk)
    days = Days(name) if (name := request.GET.get("days", "")) in Days.values else Days.TODAY
    chosen = named_period(days, timezone.now())
    rows = people_beside(chosen.period)
    own = next((row for row in rows if row.person == person), None)
    paid_for = note_as_seen(only_reason(person, chosen.period)) if own and own.paid_out else ""
    counted, zeros = counted_of(own, days, request.user, paid_for=paid_for) if own else ([], [])
    is_part = "HX-Request" in request.headers
    context = {
        "person": person,
        "chosen": chosen,
        "periods": (PERSON_DAYS | {days.value: days.label}).items(),
        "rows": rows,
        "counted": counted,
        "zeros": zeros,
        "lists": lists_of(person, days, request.user),
        "is_part": is_part,
    }
    return render(request, "earnings/beside.html" if is_part else "earnings/beside_page.html", context)


@staff_only(Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
@require_GET
def earnings_csv(request: StaffRequest) -> HttpResponseBase:
    """The lines as CSV."""
    report = _whole_report(request)
    return csv_answer(report.lines, _noted(request, report, "csv"), _name(report, "csv"))


@staff_only(Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
@require_GET
def earnings_xlsx(request: StaffRequest) -> HttpResponse:
    """The lines as a workbook."""
    report = _whole_report(request)
    words = _WORDS | {"name": BY[report.by]}
    return workbook_answer(report.lines, _noted(request, report, "xlsx"), _name(report, "xlsx"), words=words)


@contextmanager
def _asked(request: StaffRequest) -> Iterator[tuple[Chosen, str, dict[str, str | Promise]]]:
    """The period, split and possible splits of the address; in this context only a chosen branch is seen."""
    chosen = compared_period(request.GET)
    with seen_in(chosen.branch):
        keys, by = keys_shown(request.user), request.GET.get("by", "")
        yield chosen, by if by in keys else "brand", keys


def _whole_report(request: StaffRequest) -> Report:
    with _asked(request) as (chosen, by, _keys):
        return report_of(chosen, by)


def _name(report: Report, ending: str) -> str:
    chosen = report.chosen
    parts = ["earnings", report.by, chosen.period.first, chosen.period.last]
    parts += ["against", chosen.before.first, chosen.before.last] if chosen.is_against_own else []
    parts += ["branch", chosen.branch] if chosen.branch is not None else []
    return f"{'-'.join(map(str, parts))}.{ending}"


def _noted(request: StaffRequest, report: Report, file_format: str) -> Fields:
    """The columns that this person may see; the audit notes the file."""
    query = {"by": report.by} | report.chosen.dates | report.chosen.besides
    facts = {"format": file_format, "query": urlencode(query)}
    record(EXPORT_MADE, actor=request.user, subject="earnings", facts=facts)
    return _FIELDS | (_WITH_COST if sees_cost(request.user) else {})


def _of(name: str) -> Callable[[Line], Any]:
    return lambda line: getattr(line.figures, name)


_FIELDS: dict[str, Callable[[Line], Any]] = {
    "key": lambda line: line.key,
    "name": lambda line: line.words,
    **{name: _of(name) for name in ("placed", "sold", "failed", "reversed", "cancelled", "open")},
    "sales": _of("sales"),
    "sales_before": lambda line: line.before.sales,
    "usual_seconds": lambda line: "" if line.figures.usual_seconds is None else line.figures.usual_seconds,
}
_WITH_COST = {"cost": _of("cost"), "profit": _of("profit"), "profit_before": lambda line: line.before.profit}
# The words for the fields, in a workbook; "name" is the split of the lines.
_WORDS: dict[str, Any] = {
    "key": _("Code"),
    "placed": _("Orders"),
    "sold": _("Sold"),
    "failed": _("Failed"),
    "reversed": _("Reversed"),
    "cancelled": _("Cancelled"),
    "open": pgettext_lazy("orders", "Open"),
    "usual_seconds": _("Usual seconds"),
    "sales": _("Sales"),
    "sales_before": _("Sales before"),
    "cost": _("Cost"),
    "profit": _("Profit"),
    "profit_before": _("Profit before"),
}
