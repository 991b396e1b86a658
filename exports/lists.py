"""A list as a file: CSV while it is read, or written by the worker. Whoever makes one is noted in the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from audit.kinds import Kind
from audit.services import record
from core.access import StaffRequest
from core.filters import ListFilter
from core.live import expect_news
from core.paging import kept_filters
from exports.errors import TooManyFiles, TooManyRows
from exports.formats import Fields, csv_blocks
from exports.models import Export
from exports.services import request_file

# A longer list is written by the worker: a browser's request holds one of the few threads of the pages.
MOST_AT_ONCE = 50_000


@dataclass(frozen=True)
class ListFile:
    """What makes files of one list. `show`: the list's page, given what to say and the HTTP status.

    `name` begins the files' names; `task` writes one that the worker makes; `permission` is what its reader needs.
    """

    name: str
    task: str
    permission: str
    fields: Fields
    show: Callable[[StaffRequest, dict[str, Any], int], HttpResponse]

    def csv(self, request: StaffRequest, found: ListFilter) -> HttpResponseBase:
        """The filtered list as CSV, sent while it is read; a long one is asked of the worker (POST)."""
        if not found.is_valid():
            return self._no_file(request, found, found.faults)
        if request.method == "POST":
            return self._ask(request, found, Export.Format.CSV)
        if found.qs.order_by()[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE:
            why = _("These are more than %(most)s entries. The file is made in the background.")
            most = number_format(MOST_AT_ONCE, force_grouping=True)
            return self._no_file(request, found, why % {"most": most}, may_ask=Export.Format.CSV)
        self._note(request, found, Export.Format.CSV)
        name = f"{self.name}-{timezone.localtime():%Y-%m-%d-%H%M}.csv"
        return StreamingHttpResponse(
            chain(["\ufeff"], csv_blocks(found.qs.order_by("pk").iterator(), self.fields)),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    def xlsx(self, request: StaffRequest, found: ListFilter) -> HttpResponse:
        """Ask the worker for the filtered list as a workbook (POST)."""
        if not found.is_valid():
            return self._no_file(request, found, found.faults)
        if request.method == "POST":
            return self._ask(request, found, Export.Format.XLSX)
        return self._no_file(request, found, _("The file is made in the background."), may_ask=Export.Format.XLSX)

    def _ask(self, request: StaffRequest, found: ListFilter, file_format: Export.Format) -> HttpResponse:
        try:
            request_file(
                owner=request.user,
                list_name=self.name,
                task=self.task,
                permission=self.permission,
                query=_query(request, found),
                file_format=file_format,
                found=found.qs,
            )
        except TooManyRows as refusal:
            return self._no_file(request, found, str(refusal))
        except TooManyFiles as refusal:
            messages.error(request, str(refusal))
        else:
            self._note(request, found, file_format)
        expect_news(request)
        return redirect("export_list")

    def _note(self, request: StaffRequest, found: ListFilter, file_format: Export.Format) -> None:
        facts = {"format": file_format.value, "query": _query(request, found)}
        record(Kind.EXPORT_MADE, request=request, subject=self.name, facts=facts)

    def _no_file(self, request: StaffRequest, found: ListFilter, why: str, *, may_ask: str = "") -> HttpResponse:
        """Never more, and never less, than what was asked for. `may_ask`: the format that the worker can make of it."""
        context = {"filter": found, "no_file": why, "may_ask": may_ask, "kept": kept_filters(request.GET)}
        return self.show(request, context, 200 if may_ask else 400)


def _query(request: StaffRequest, found: ListFilter) -> str:
    return urlencode({name: request.GET[name] for name in found.form.fields if request.GET.get(name)})
