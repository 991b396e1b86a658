"""A day's journal: the page, its files, and the accounts that it names."""

import datetime as dt

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from audit.services import record
from branches.choosing import branch_links, chosen_branch
from core.access import StaffRequest, staff_only
from core.rights import Right
from core.times import shop_day_or_today
from earnings.forms import AccountsForm
from earnings.journal_files import COLUMNS, beancount_of, rows_of
from earnings.services import Period, may_change
from earnings.services.journal import account_names, choose_accounts, journal_of, shown_accounts
from exports.events import EXPORT_MADE
from exports.formats import csv_answer

#: The rights for everything that a journal shows.
RIGHTS = (Right.VIEW_ORDERS, Right.VIEW_SHIFTS, Right.VIEW_COST, Right.VIEW_BOOKS, Right.VIEW_CREDIT)


@staff_only(*RIGHTS)
@require_GET
def journal(request: StaffRequest) -> HttpResponse:
    """Show the journal of a day, yesterday without one."""
    day, branch = _day(request), chosen_branch(request.GET)
    bookings, shown = journal_of(day, branch), shown_accounts()
    period = Period.of_days(day, day)
    context = {
        "day": day,
        "branch": branch,
        "branch_links": branch_links(request),
        "of_branch": f"&branch={branch}" if branch is not None else "",
        "rows": [(shown[each.debit], shown[each.credit], each.amount) for each in bookings],
        "total": sum(each.amount for each in bookings),
        "is_open": period.until > timezone.now() or may_change(period),
    }
    return render(request, "earnings/journal.html", context)


@staff_only(*RIGHTS)
@require_GET
def journal_csv(request: StaffRequest) -> HttpResponseBase:
    """The journal as CSV, one row for each side."""
    day, branch = _day(request), chosen_branch(request.GET)
    _note(request, day, "csv", branch)
    bookings = journal_of(day, branch)
    return csv_answer(rows_of(day, bookings, account_names()), COLUMNS, f"journal-{_named(day, branch)}.csv")


@staff_only(*RIGHTS)
@require_GET
def journal_beancount(request: StaffRequest) -> HttpResponse:
    """The journal for beancount."""
    day, branch = _day(request), chosen_branch(request.GET)
    _note(request, day, "beancount", branch)
    return HttpResponse(
        beancount_of(day, journal_of(day, branch), account_names()),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="journal-{_named(day, branch)}.beancount"'},
    )


@staff_only(*RIGHTS, Right.CHANGE_SHOP)
@require_http_methods(["GET", "POST"])
def journal_accounts(request: StaffRequest) -> HttpResponse:
    """Choose the accounts."""
    form = AccountsForm(request.POST if request.method == "POST" else None, names=account_names())
    if form.is_valid():
        choose_accounts(form.cleaned_data, actor=request.user)
        messages.success(request, _("Saved. It holds from now on."), extra_tags="accounts_saved")
        return redirect("journal")
    return render(request, "earnings/journal_accounts.html", {"form": form})


def _day(request: StaffRequest) -> dt.date:
    typed = request.GET.get("day", "")
    return shop_day_or_today(typed) if typed else timezone.localdate() - dt.timedelta(days=1)


def _named(day: dt.date, branch: int | None) -> str:
    """The day and the branch of a file, for its name."""
    return f"{day}" if branch is None else f"{day}-branch-{branch}"


def _note(request: StaffRequest, day: dt.date, file_format: str, branch: int | None) -> None:
    facts = {"format": file_format, "query": f"day={day}" + (f"&branch={branch}" if branch is not None else "")}
    record(EXPORT_MADE, actor=request.user, subject="journal", facts=facts)
