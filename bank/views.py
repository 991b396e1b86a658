"""The bank beside the books: what is matched, missing and unknown; reading a file; deciding about a row."""

import datetime as dt
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from audit.services import record
from bank import services
from bank.days import expected_days
from bank.errors import BankRefused
from bank.formats import bookings_of, columns_of, count_below_heading, lines_of
from bank.forms import ColumnsForm, DecisionForm, FileForm
from bank.models import BankAccount, BankFile, BankRow, State
from bank.presenting import MISSING, RIGHTS, Line, last_read, may_still_come, statement_of, with_links
from branches.choosing import branch_links, chosen_branch
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.numbers import masked_note, sees_whole_numbers
from core.periods import Period as Days
from core.rights import Right
from core.snapshot import snapshot
from earnings.periods import NAMES, Chosen, chosen_period
from exports.events import EXPORT_MADE
from exports.formats import csv_answer

# How many lines of a part are on the page, of all parts together, files below the form, rows in the preview, and items
# beside a row.
_MOST_LINES, _TOGETHER, _MOST_FILES, _SAMPLE, _MOST_ITEMS = 100, 40, 10, 5, 30


@staff_only(*RIGHTS)
@require_GET
def bank(request: StaffRequest) -> HttpResponse:
    """Show what is missing, unknown, matched and set aside in a period, together or one of them; 7 days without one."""
    chosen, shown, branch = _chosen(request), request.GET.get("show", ""), chosen_branch(request.GET)
    with snapshot():
        statement = statement_of(chosen.period.first, chosen.period.last)
        parts = statement.parts_shown(shown, together=_TOGETHER)
        lines = [line for part in parts for line in part.lines(_MOST_LINES)]
        still_comes = may_still_come(statement) if parts[0].name == MISSING else 0
        days = expected_days(chosen, timezone.localdate(), statement, branch)
    lines = with_links(lines)
    context = {
        "chosen": chosen,
        "expected_days": days,
        "branch": branch,
        "branch_links": branch_links(request),
        "of_branch": f"&branch={branch}" if branch is not None else "",
        "period_query": urlencode(chosen.days),
        "periods": NAMES.items(),
        "statement": statement,
        "parts_shown": [(part, [line for line in lines if line.state == part.name]) for part in parts],
        "may_still_come": still_comes,
        "shown": shown,
    }
    if not statement.reaches and request.user.has_perm(Right.MATCH_BANK):
        context |= _file_choice(FileForm())
    return render(request, "bank/bank.html", context)


@staff_only(*RIGHTS)
@require_GET
def bank_csv(request: StaffRequest) -> HttpResponseBase:
    """All rows of the period, what is missing, and what is in no statement yet, as CSV."""
    chosen = _chosen(request)
    with snapshot():
        statement = statement_of(chosen.period.first, chosen.period.last)
        lines = [line for part in [*statement.parts, statement.beyond] for line in part.lines()]
    facts = {"format": "csv", "query": chosen.query, "rows": len(lines)}
    record(EXPORT_MADE, actor=request.user, subject="bank", facts=facts)
    fields = _FIELDS if sees_whole_numbers() else _FIELDS | {"reference": _masked_reference}
    return csv_answer(lines, fields, f"bank-{chosen.period.first}-{chosen.period.last}.csv")


@staff_only(*RIGHTS, Right.MATCH_BANK)
@require_POST
def bank_match(request: StaffRequest) -> HttpResponse:
    """Match the period's rows that nobody has decided about again, with what was entered or undone since."""
    chosen = chosen_period(request.POST)
    matched = services.match_rows(chosen.period.first, chosen.period.last)
    words = ngettext("%(n)s row was matched.", "%(n)s rows were matched.", matched) % {"n": matched}
    messages.success(request, words, extra_tags="bank_matched")
    return redirect(f"{reverse('bank')}?{chosen.query}")


@staff_only(*RIGHTS, Right.MATCH_BANK)
@require_http_methods(["GET", "POST"])
def bank_read(request: StaffRequest) -> HttpResponse:
    """Show some rows of a file, for a new account with its columns; a second press keeps all rows that were shown."""
    if request.method == "POST":
        form = FileForm(request.POST, request.FILES)
    else:
        last = BankFile.objects.order_by("-pk").values_list("account__name", flat=True).first()
        form = FileForm(initial={"account": last})
    form.fields["account"].required = "save" in request.POST
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        try:
            context |= _preview(request, form)
        except BankRefused as refusal:
            context["refusal"] = refusal
        if "read" in context:
            words = _("New rows read: %(added)s. Matched: %(matched)s.") % context["read"]
            messages.success(request, words, extra_tags="bank_read")
            address = _page_with(*context["days"])
            return HttpResponseClientRedirect(address) if "HX-Request" in request.headers else redirect(address)
    if "HX-Request" in request.headers:
        return render(request, "bank/preview.html", context)
    return render(request, "bank/read.html", context | _file_choice(form) | {"files": last_read(_MOST_FILES)})


def _file_choice(form: FileForm) -> dict[str, Any]:
    return {"form": form, "accounts": BankAccount.objects.values_list("name", flat=True)}


def _preview(request: StaffRequest, form: FileForm) -> dict[str, Any]:
    """The columns and some rows of the file; or what was "read", once they were shown for this account and are kept."""
    file, account = form.cleaned_data["file"], form.cleaned_data["account"]
    content = file.read()
    lines = lines_of(content)
    columns = services.kept_columns(account, lines)
    context: dict[str, Any] = {"account": account}
    is_confirmed = request.POST.get("save") == account
    if columns is None:
        columns = columns_of(lines)
        chosen = ColumnsForm(lines, request.POST if "day" in request.POST else None, columns)
        context["columns"] = chosen
        is_confirmed = chosen.is_bound and "save" in request.POST
        if chosen.is_bound:
            columns = chosen.columns if chosen.is_valid() else None
    if columns is None:
        return context
    try:
        bookings = [*bookings_of(lines, columns, timezone.localdate())]
    except BankRefused as refusal:
        return context | {"refusal": refusal}
    if is_confirmed:
        facts = {"account": account, "fee": form.cleaned_data["fee"], "actor": request.user}
        added, matched = services.read_file(file.name, content, lines, columns, **facts)
        days = [booking.day for booking in bookings]
        return {"read": {"added": added, "matched": matched}, "days": (min(days), max(days))}
    context["sample"] = bookings[:_SAMPLE]
    context["row_count"], context["left_out"] = len(bookings), count_below_heading(lines, columns) - len(bookings)
    return context


def _page_with(first: dt.date, last: dt.date) -> str:
    """The address of the page with these days: the usual page if it has them."""
    usual = chosen_period({"days": Days.DAYS_7}).period
    has_them = usual.first <= first and last <= usual.last
    return reverse("bank") + ("" if has_them else f"?{urlencode({'since': first, 'until': last})}")


@staff_only(*RIGHTS, Right.MATCH_BANK)
@require_POST
def bank_file_back(request: StaffRequest, pk: int) -> HttpResponse:
    """Take a file back with its rows and their matches."""
    with refusal_shown(request):
        services.take_back(pk, actor=request.user)
        messages.success(request, _("The rows of this file are gone."), extra_tags="bank_file_back")
    return redirect("bank_read")


@staff_only(*RIGHTS)
@require_GET
def bank_row(request: StaffRequest, pk: int) -> HttpResponse:
    """Show a row with its item, or the items that it may be."""
    return _row_page(request, _row(pk))


@staff_only(*RIGHTS, Right.MATCH_BANK)
@require_POST
def bank_decide(request: StaffRequest, pk: int) -> HttpResponse:
    """Match a row, set it aside, or take its match away, with a reason."""
    row, form = _row(pk), DecisionForm(request.POST)
    if not form.is_valid():
        return _row_page(request, row, form)
    with refusal_shown(request):
        _decide(request, row, form.cleaned_data)
    return redirect("bank_row", pk=pk) if BankRow.objects.filter(pk=pk).exists() else redirect("bank")


def _row(pk: int) -> BankRow:
    return get_object_or_404(BankRow.objects.select_related("account", "file", "decided_by"), pk=pk)


def _row_page(request: StaffRequest, row: BankRow, form: DecisionForm | None = None) -> HttpResponse:
    own = with_links([Line(row, row.item or "", row.item_day, row.item_amount)])[0]
    lines = [Line(None, item.key, item.day, item.amount) for item in _items_for(row)]
    return render(request, "bank/row.html", {"line": own, "row": row, "items": with_links(lines), "form": form})


def _items_for(row: BankRow) -> list[services.Item]:
    """The items that an unknown row may be, the likeliest first."""
    if row.state != State.UNKNOWN:
        return []
    return services.items_near(row.amount, row.day, services.MOST_APART, most=_MOST_ITEMS)


def _decide(request: StaffRequest, row: BankRow, chosen: dict[str, str]) -> None:
    reason, actor = chosen["reason"], request.user
    if chosen["action"] == "match":
        item = next((item for item in _items_for(row) if item.key == chosen["item"]), None)
        if item is None:
            raise BankRefused("taken")
        services.match_by_hand(row.pk, item, reason=reason, actor=actor)
    elif chosen["action"] == "aside":
        services.set_aside(row.pk, reason=reason, actor=actor)
    else:
        services.take_match_away(row.pk, reason=reason, actor=actor)
    messages.success(request, _("Noted."), extra_tags="bank_decided")


def _chosen(request: StaffRequest) -> Chosen:
    return chosen_period(request.GET if request.GET.keys() & {"days", "since", "until"} else {"days": Days.DAYS_7})


def _masked_reference(line: Line) -> str:
    return masked_note(line.row.reference) if line.row else ""


_FIELDS: dict[str, Callable[[Line], Any]] = {
    "state": lambda line: line.state,
    "account": lambda line: line.row.account.name if line.row else "",
    "day": lambda line: line.row.day if line.row else "",
    "amount": lambda line: line.row.amount if line.row else "",
    "reference": lambda line: line.row.reference if line.row else "",
    "text": lambda line: masked_note(line.row.text) if line.row else "",
    "item": lambda line: line.key,
    "item_day": lambda line: line.item_day or "",
    "item_amount": lambda line: "" if line.item_amount is None else line.item_amount,
    "fee": lambda line: line.fee,
    "reason": lambda line: masked_note(line.row.reason) if line.row else "",
}
