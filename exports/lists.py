"""A list as a file: at once if it is short, else written by the worker. The audit notes each file and its maker."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext as _, pgettext_lazy

from audit.acts import act
from audit.services import record
from core.access import StaffRequest
from core.filters import ListFilter
from core.live import expect_news
from core.numbers import may_take_whole
from core.paging import kept_filters
from core.periods import Period
from core.rights import Right
from core.search import count_up_to
from core.tables import Table
from core.times import days_words
from exports.errors import TooManyFiles, TooManyRows
from exports.events import EXPORT_MADE
from exports.formats import Fields, csv_blocks, in_language, workbook_answer
from exports.models import Export, named_by_days
from exports.presenting import in_words
from exports.services import request_file
from staff.confirming import check_factor
from staff.errors import FactorRefused

# The worker writes a longer list: a browser's request holds one of the few threads of the pages.
MOST_AT_ONCE = 50_000
# The days that the menu offers in addition to those of the list.
_PERIODS = frozenset({Period.MONTH.value, Period.LAST_MONTH.value})
# A workbook is made as a whole before it is sent: about 0.2 s for this many rows.
MOST_IN_BOOK = 1_000
# The act that a second factor confirms.
WHOLE_FILE = act("whole_file", pgettext_lazy("audit", "File with full numbers"), Right.REVEAL_NUMBERS)


# The words of lists whose files are made without a `Listing`, by their names.
LIST_WORDS: dict[str, Any] = {}
# The filters of these lists, for an address and a reader.
LIST_FILTERS: dict[str, Callable[[QueryDict, Any], ListFilter]] = {}


@dataclass(frozen=True)
class ListFile:
    """The maker of one list's files. `show`: the list's page, called with the text to show and the HTTP status.

    `name` begins the files' names; `words`, `find`: the list's words and filter, unless it is a `Listing`; `task`
    writes a file in the worker; `table`: has the words for the fields and their values; `rights`: those that its reader
    needs. `whole_fields`: the columns of a file with customers' full numbers, if the list holds numbers. `for_file`:
    the rows with everything that a file holds.
    """

    name: str
    task: str
    rights: tuple[Right, ...]
    fields: Fields
    table: type[Table[Any]]
    show: Callable[[StaffRequest, dict[str, Any], int], HttpResponse]
    whole_fields: Fields | None = None
    words: Any = ""
    find: Callable[[QueryDict, Any], ListFilter] | None = None
    for_file: Callable[[Any], QuerySet[Any]] = lambda rows: rows

    def __post_init__(self) -> None:
        if self.words:
            LIST_WORDS[self.name] = self.words
        if self.find:
            LIST_FILTERS[self.name] = self.find

    def csv(self, request: StaffRequest, filtered: ListFilter) -> HttpResponseBase:
        """The filtered list as CSV, sent while it is read; the worker makes a long one (POST)."""
        if not filtered.is_valid():
            return self._no_file(request, filtered, filtered.faults)
        if request.method == "POST":
            return self._ask(request, filtered, Export.Format.CSV)
        return self._now(request, filtered, Export.Format.CSV) or self._too_long(request, filtered, Export.Format.CSV)

    def xlsx(self, request: StaffRequest, filtered: ListFilter) -> HttpResponseBase:
        """The filtered list as a workbook; the worker makes a long one (POST)."""
        if not filtered.is_valid():
            return self._no_file(request, filtered, filtered.faults)
        if book := self._now(request, filtered, Export.Format.XLSX):
            return book
        if request.method == "POST":
            return self._ask(request, filtered, Export.Format.XLSX)
        return self._too_long(request, filtered, Export.Format.XLSX)

    def about(self, request: StaffRequest, filtered: ListFilter, *, back: str) -> HttpResponse:
        """The content of a file: its days, the number of rows, whether numbers are full. A part of the list's menu."""
        if not filtered.is_valid():
            return self._no_file(request, filtered, filtered.faults)
        count = count_up_to(filtered.qs, MOST_AT_ONCE)
        query = filtered.as_query()
        values = dict(parse_qsl(query))
        context = {
            "days": days_words(values.get("since", ""), values.get("until", "")),
            "rows": count,
            "most": MOST_AT_ONCE,
            "has_days": "since" in filtered.form.fields,
            "waits_for": [str(label) for value, label in Export.Format.choices if count > _most_now(value)],
            "holds_numbers": self.whole_fields is not None,
            "back": f"{back}?{query}" if query else back,
            "periods": [(period, back + period.url) for period in filtered.periods() if period.name in _PERIODS]
            if "days" in filtered.form.fields
            else [],
        }
        is_part = "HX-Request" in request.headers
        return render(request, f"exports/{'about' if is_part else 'about_page'}.html", context)

    def _now(
        self, request: StaffRequest, filtered: ListFilter, file_format: Export.Format, *, whole: bool = False
    ) -> HttpResponseBase | None:
        """The file, if it is short enough to be made within the request."""
        most = _most_now(file_format)
        if count_up_to(filtered.qs, most) > most:
            return None
        self._note(request, filtered, file_format, whole=whole)
        fields = self.whole_fields if whole and self.whole_fields else self.fields
        name = named_by_days(self.name, filtered.as_query(), timezone.now(), file_format)
        rows = self.for_file(filtered.qs).order_by("pk").iterator()
        if file_format == Export.Format.XLSX:
            return workbook_answer(rows, self.table.in_words(fields), name, words=self.table.file_words())
        return StreamingHttpResponse(
            chain(["\ufeff"], in_language(get_language(), csv_blocks(rows, fields))),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    def _too_long(self, request: StaffRequest, filtered: ListFilter, file_format: Export.Format) -> HttpResponse:
        why = _("There are more than %(most)s entries. The file is made in the background.")
        most = number_format(_most_now(file_format), force_grouping=True)
        return self._no_file(request, filtered, why % {"most": most}, may_ask=file_format)

    def whole(self, request: StaffRequest, filtered: ListFilter, *, back: str) -> HttpResponseBase:
        """Ask for the second factor (GET), and make the file with full numbers (POST); `back`: the list's address."""
        if not may_take_whole(request.user):
            raise PermissionDenied
        if not filtered.is_valid():
            return self._no_file(request, filtered, filtered.faults)
        content, refusal = {"list": self.name, "query": filtered.as_query()}, None
        if request.method == "POST":
            file_format = request.POST.get("format", "")
            if file_format not in Export.Format.values:
                return HttpResponseBadRequest()
            try:
                check_factor(request, act=WHOLE_FILE, content=content | {"format": file_format})
            except FactorRefused as error:
                refusal = error
            else:
                asked = Export.Format(file_format)
                now = self._now(request, filtered, asked, whole=True)
                return now or self._ask(request, filtered, asked, whole=True)
        context = {
            "act": WHOLE_FILE,
            "content": content,
            "filters": in_words(filtered, dict(parse_qsl(content["query"]))),
            "rows": count_up_to(filtered.qs, MOST_AT_ONCE),
            "most": MOST_AT_ONCE,
            "name": "format",
            "choices": Export.Format.choices,
            "refusal": refusal,
            "back": f"{back}?{content['query']}" if content["query"] else back,
        }
        return render(request, "exports/whole_numbers.html", context)

    def _ask(
        self, request: StaffRequest, filtered: ListFilter, file_format: Export.Format, *, whole: bool = False
    ) -> HttpResponse:
        try:
            request_file(
                owner=request.user,
                list_name=self.name,
                task=self.task,
                permission=" ".join(self.rights),
                query=filtered.as_query(),
                file_format=file_format,
                rows=filtered.qs,
                whole_numbers=whole,
            )
        except TooManyRows as refusal:
            return self._no_file(request, filtered, str(refusal))
        except TooManyFiles as refusal:
            messages.error(request, str(refusal))
        else:
            self._note(request, filtered, file_format, whole=whole)
        expect_news(request)
        return redirect("export_list")

    def _note(
        self, request: StaffRequest, filtered: ListFilter, file_format: Export.Format, *, whole: bool = False
    ) -> None:
        facts = {"format": file_format.value, "query": filtered.as_query()}
        if whole:
            facts["numbers"] = "whole"
        record(EXPORT_MADE, actor=request.user, subject=self.name, facts=facts)

    def _no_file(self, request: StaffRequest, filtered: ListFilter, why: str, *, may_ask: str = "") -> HttpResponse:
        """The list's page with the reason why there is no file. `may_ask`: the format that the worker can make."""
        context = {"filter": filtered, "no_file": why, "may_ask": may_ask, "kept": kept_filters(request.GET)}
        return self.show(request, context, 200 if may_ask else 400)


def _most_now(file_format: str) -> int:
    """The most rows of a file that is made within a request."""
    return MOST_IN_BOOK if file_format == Export.Format.XLSX else MOST_AT_ONCE
