"""The statement and its files."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods

from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from exports.lists import ListFile
from ledger.filters import StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_GET
def statement(request: StaffRequest) -> HttpResponse:
    """The entries that match the filters in the URL, newest first, 50 a page."""
    filtered = _found(request)
    page = keyset_page(filtered.qs, request.GET, time_field="at")
    context = {"filter": filtered, "page": page, "table": StatementTable(page.rows)}
    return render(request, "ledger/statement.html", context)


def _found(request: StaffRequest) -> StatementFilter:
    return StatementFilter(request.GET, queryset=Entry.objects.with_actors())


def _show_statement(request: StaffRequest, context: dict[str, Any], status: int) -> HttpResponse:
    return render(request, "ledger/statement.html", context, status=status)


FILE = ListFile(
    name="statement",
    words=_("Statement"),
    task="ledger.tasks.write_statement",
    rights=(Right.VIEW_STATEMENT, Right.VIEW_COST),
    fields=StatementTable.export,
    table=StatementTable,
    show=_show_statement,
    find=lambda query, _reader: StatementFilter(query, queryset=Entry.objects.with_actors()),
)


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_http_methods(["GET", "POST"])
def statement_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as CSV, sent while it is read; the worker makes a long one (POST)."""
    return FILE.csv(request, _found(request))


@staff_only(Right.VIEW_STATEMENT, Right.VIEW_COST)
@require_http_methods(["GET", "POST"])
def statement_xlsx(request: StaffRequest) -> HttpResponseBase:
    """The filtered statement as a workbook; the worker makes a long one (POST)."""
    return FILE.xlsx(request, _found(request))
