"""The closing of a day by cashier, which an owner signs."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import BigIntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from audit.acts import act
from audit.services import record
from branches.seeing import names_branches, narrowed, own_branch
from branches.services import all_branches, branch_name, branch_names
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.numbers import masked_note
from core.rights import Right
from core.times import shop_day, shop_day_or_today
from credit.methods import method_choices, method_words
from drawers import services
from drawers.models import DrawerDay, Shift
from drawers.models.shifts import DrawerHistory
from drawers.presenting.shifts import cash_of_lines, day_cash_lines
from drawers.services import DayLine
from exports.events import EXPORT_MADE
from exports.formats import csv_answer
from staff.confirming import check_factor

_ROWS = 30

SIGN_DAY = act("sign_day", pgettext_lazy("audit", "Sign a day"), Right.SIGN_DAYS)


@staff_only(Right.VIEW_SHIFTS)
@require_GET
def drawer_day_today(request: StaffRequest) -> HttpResponse:
    """Redirect to the day that `day` names, else to today, with the same branch."""
    page = reverse("drawer_day", args=[shop_day_or_today(request.GET.get("day", "")).isoformat()])
    branch = _branch(request.GET.get("branch", "")) if names_branches() else None
    return redirect(page if branch is None else f"{page}?branch={branch}")


def _day(text: str) -> dt.date:
    try:
        day = shop_day(text)
    except ValueError:
        raise Http404 from None
    if day > timezone.localdate() + dt.timedelta(days=31):
        raise Http404
    return day


def _branch(chosen: str) -> int | None:
    """The branch of the closing: the chosen branch, or the only branch that the reader sees; None: all together."""
    if (own := own_branch()) is not None:
        return own
    branches = all_branches()
    if len(branches) == 1:
        return next(iter(branches))
    return {str(key): key for key in branches}.get(chosen)


def _found(day: dt.date, branch: int | None) -> list[DrawerDay]:
    """The day's rows: one for each branch, or only that of this branch."""
    rows = DrawerDay.objects.select_related("signed_by").filter(day=day).order_by("branch")
    return list(rows if branch is None else rows.filter(branch=branch))


@staff_only(Right.VIEW_SHIFTS)
@require_GET
def drawer_day(request: StaffRequest, day: str) -> HttpResponse:
    """The sums of one day's shifts, by cashier; fit for paper. `branch`: only this branch, else all together.

    `page`: the page of shifts; `all`: every shift. The sums are always of all shifts.
    """
    shown = _day(day)
    branch = _branch(request.GET.get("branch", ""))
    today, following = timezone.localdate(), shown + dt.timedelta(days=1)
    context = _closing(request, shown, branch)
    is_signed, lines = context["is_signed"], context["lines"]
    page = Paginator(lines, len(lines) or 1 if "all" in request.GET else _ROWS).get_page(request.GET.get("page"))
    context |= {
        "page": page,
        "shown": page.object_list,
        "signed_before": is_signed and any(line.opening_difference is None for line in lines),
        "today": today,
        "previous": shown - dt.timedelta(days=1),
        "next": following if shown < today or (is_signed and _found(following, branch)) else None,
    }
    return render(request, "drawers/drawer_day.html", context)


def _closing(request: StaffRequest, day: dt.date, branch: int | None) -> dict[str, Any]:
    """The closing of a day for its pages, and whether this person may sign it now."""
    rows = _found(day, branch)
    lines = _all_lines(rows)
    all_signed, is_running = bool(rows) and all(row.signed_at for row in rows), day >= timezone.localdate()
    # A branch whose only shift is open has no row yet.
    open_shifts = [] if all_signed and branch is not None else services.open_shifts_until(day, branch)
    is_signed = all_signed and not open_shifts
    sums = _sum(lines)
    # A day that was signed long ago has no record of the cash in its drawers before.
    knows_before = bool(lines) and all(line.opening_difference is not None for line in lines)
    totals = [line.totals for line in lines]
    in_no_shift = services.sold_in_no_shift(day, branch)
    may_sign = bool(lines) and not (is_signed or is_running or open_shifts) and request.user.has_perm(Right.SIGN_DAYS)
    return {
        "day": day,
        "day_row": rows[0] if branch is not None and rows else None,
        "is_signed": is_signed,
        "lines": lines,
        "shown": lines,
        "elsewhere": _elsewhere(lines),
        "sum": sums,
        "cash_lines": day_cash_lines(totals, expected=sums["expected"]) if knows_before else [],
        "methods": _by_method(lines),
        "in_no_shift": in_no_shift,
        "for_next_shifts": services.sold_for_next_shifts(day, branch),
        "orders_in_no_shift": services.orders_in_no_shift(day, branch) if in_no_shift[0] else [],
        "cash": cash_of_lines(
            lines, difference=sums["difference"], is_open=bool(open_shifts), has_more=bool(in_no_shift[0])
        ),
        "open_shifts": open_shifts,
        "sees_cost": request.user.has_perm(Right.VIEW_COST),
        "is_running": is_running,
        "may_sign": may_sign and branch is not None,
        "branch": branch,
        "branch_words": branch_name(branch) if branch is not None and names_branches() else "",
        "branches": _by_branch(day) if names_branches() else [],
        "of_branch": f"?branch={branch}" if branch is not None and names_branches() else "",
    }


def _by_branch(day: dt.date) -> list[tuple[int, str, bool]]:
    """The branches: key, name, and whether the day is signed there."""
    signed = {row.branch_id for row in _found(day, None) if row.signed_at}
    return [(pk, name, pk in signed) for pk, name in branch_names()]


def _all_lines(rows: Sequence[DrawerDay]) -> list[DayLine]:
    """The shifts of these days that the reader sees; a drawer that moved from one branch to another counts once."""
    lines = [line for row in rows for line in _lines(row)]
    if len(rows) < 2:
        return lines
    counted = Shift.objects.filter(pk__in=[line.shift for line in lines if line.is_last_of_drawer])
    last = set(dict(counted.order_by("opened_at", "pk").values_list("drawer", "pk")).values())
    return [replace(line, is_last_of_drawer=line.shift in last) for line in lines]


def _lines(day_row: DrawerDay) -> list[DayLine]:
    """The shifts of the day that the reader sees: those whose drawer was in the reader's branch when they closed.

    Only a day from before each branch had its own days has others.
    """
    lines = services.day_lines(day_row)
    if own_branch() is None:
        return lines
    then = DrawerHistory.objects.filter(pgh_obj=OuterRef("drawer"), pgh_created_at__lte=OuterRef("closed_at"))
    before = Subquery(then.order_by("-pgh_id").values("branch")[:1])
    was_in = Coalesce(before, "drawer__branch", output_field=BigIntegerField())
    shifts = Shift.objects.filter(pk__in=[line.shift for line in lines]).alias(was_in=was_in)
    keys = set(narrowed(shifts, "was_in").values_list("pk", flat=True))
    return [line for line in lines if line.shift in keys]


def _elsewhere(lines: Iterable[DayLine]) -> set[int]:
    """The keys of the shifts among these whose drawer is now in a branch that the reader does not see."""
    if own_branch() is None:
        return set()
    keys = {line.shift for line in lines}
    return keys - set(narrowed(Shift.objects.filter(pk__in=keys), "drawer__branch").values_list("pk", flat=True))


def _sum(lines: Iterable[DayLine]) -> dict[str, int]:
    """The sums of all shifts of the day, in rupiah; the cash of each drawer counts once."""
    names = ("all_sales", "credit_sales", "all_refunds", "all_credit", "all_credit_out", "cost", "profit")
    return {name: sum(getattr(line.totals, name) for line in lines) for name in names} | services.cash_of_day(lines)


def _by_method(lines: Iterable[DayLine]) -> list[tuple[str, str, int]]:
    """The sales of all shifts by method, less refunds by the same method: its code, its words, rupiah.

    The order is that of the table of methods, also for a signed day, which keeps another order.
    """
    sums: Counter[str] = Counter(dict.fromkeys(dict(method_choices()), 0))
    for line in lines:
        for sold in (line.totals.sales, line.totals.refunds):
            for code, amount in sold.items():
                sums[code] += amount
    return [(code, method_words(code), amount) for code, amount in sums.items() if amount]


@staff_only(Right.VIEW_SHIFTS)
@require_GET
def drawer_day_csv(request: StaffRequest, day: str) -> HttpResponseBase:
    """The closing of a day as a CSV file, a line a shift; with its branch for readers who see several."""
    shown = _day(day)
    fields = dict(_FIELDS) | {f"sales_{code}": partial(_sales_by, code) for code, _words in method_choices()}
    if request.user.has_perm(Right.VIEW_COST):
        fields |= {"cost": lambda line: line.totals.cost, "profit": lambda line: line.totals.profit}
    record(EXPORT_MADE, actor=request.user, subject=f"day {shown}", facts={"format": "csv"})
    rows = _found(shown, _branch(request.GET.get("branch", "")))
    if names_branches():
        branches = {line.shift: branch_name(row.branch_id) for row in rows for line in _lines(row)}
        fields |= {"branch": lambda line: branches[line.shift]}
    return csv_answer(_all_lines(rows), fields, f"shifts-{shown}.csv")


def _sales_by(code: str, line: DayLine) -> int:
    return line.totals.sales.get(code, 0)


_FIELDS = {
    "shift": lambda line: line.shift,
    "cashier": lambda line: line.cashier,
    "drawer": lambda line: line.drawer,
    "sales": lambda line: line.totals.all_sales,
    "credit_sales": lambda line: line.totals.credit_sales,
    "given_back": lambda line: line.totals.all_refunds,
    "credit_payments": lambda line: line.totals.all_credit,
    "credit_payouts": lambda line: line.totals.all_credit_out,
    "opening": lambda line: line.totals.opening,
    "cash_sales": lambda line: line.totals.in_cash(line.totals.sales),
    "cash_given_back": lambda line: line.totals.in_cash(line.totals.refunds),
    "credit_paid_in_cash": lambda line: line.totals.in_cash(line.totals.credit),
    "credit_paid_out_in_cash": lambda line: line.totals.in_cash(line.totals.credit_out),
    "paid_in": lambda line: line.totals.paid_in,
    "paid_out": lambda line: line.totals.paid_out,
    "expected": lambda line: line.totals.expected,
    "counted": lambda line: line.counted,
    "difference": lambda line: line.difference,
    "reason": lambda line: masked_note(line.reason),
    # The sums of these two are the day's: each drawer's cash once, and all differences at openings.
    "last_count": lambda line: line.counted if line.is_last_of_drawer else 0,
    "opening_difference": lambda line: line.opening_difference or 0,
    "opening_reason": lambda line: masked_note(line.opening_reason),
}


@staff_only(Right.SIGN_DAYS)
@require_http_methods(["GET", "POST"])
def drawer_day_sign(request: StaffRequest, day: str) -> HttpResponse:
    """Show the closing of a day that is over, then sign it as shown, with a second factor; that freezes it."""
    shown = _day(day)
    branch = _branch(request.POST.get("branch") or request.GET.get("branch", ""))
    context = _closing(request, shown, branch)
    page = f"{reverse('drawer_day', args=[shown.isoformat()])}{context['of_branch']}"
    if branch is None:
        return redirect(page)
    if request.method == "GET":
        if not context["may_sign"]:
            return redirect(page)
        signs = {"day": shown.isoformat(), "branch": branch, "seen": services.seal_of(context["lines"])}
        return render(request, "drawers/day_sign.html", context | {"signs": signs, "page": page})
    with refusal_shown(request):
        seen = request.POST.get("seen", "")
        check_factor(request, act=SIGN_DAY, content={"day": shown.isoformat(), "branch": branch, "seen": seen})
        services.sign_day(shown, branch=branch, actor=request.user, seen=seen)
        messages.success(request, _("Signed. The closing of this day is frozen."), extra_tags="signed")
    return redirect(page)
