"""Shifts: the list, one of them on screen and on paper, its file, and closing one."""

from itertools import chain
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.services import record
from branches.seeing import narrowed
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.money import rupiah
from core.paging import keyset_page
from core.rights import Right
from core.times import clock
from core.together import read_together
from drawers import services
from drawers.errors import DifferenceUnexplained, DrawerRefused
from drawers.filters import ShiftFilter
from drawers.forms import CloseForm, CorrectForm
from drawers.models import DENOMINATIONS, DrawerEntry, Outcome, Payment, Shift
from drawers.presenting.shifts import cash_lines, other_lines
from drawers.tables import EntryTable, SaleTable, ShiftTable, shift_fields
from exports.events import EXPORT_MADE
from exports.formats import csv_answer
from policies.services import policies
from staff.models import User
from tills.printing import open_cash_drawer
from tills.sessions import go_on_with

_PAPERS = ("80", "a4")
_MOST_LATE = 50
# The most entries on the page; the file has all of them.
_MOST_ENTRIES = 200


@staff_only(Right.VIEW_SHIFTS)
@require_GET
def shift_list(request: StaffRequest) -> HttpResponse:
    """The shifts that match the filters in the URL, newest first, 50 a page."""
    filtered = ShiftFilter(request.GET, queryset=narrowed(Shift.objects.all(), "drawer__branch"))
    shown = Shift.objects.select_related("drawer", "cashier")
    page = keyset_page(filtered.qs, request.GET, time_field="opened_at", shown=shown)
    context = {"filter": filtered, "page": page, "table": ShiftTable(page.rows)}
    return render(request, "drawers/shift_list.html", context)


def sales_of(shift: Shift) -> QuerySet[Payment]:
    """The sales of a shift as the table shows them, newest first."""
    sold = shift.payments.select_related("seller", "debt__account__customer").with_orders()
    return sold.order_by("-at", "-pk")


def entries_of(shift: Shift) -> QuerySet[DrawerEntry]:
    """The entries of a shift other than sales, as the table shows them, newest first."""
    return shift.entries.select_related("person", "undone_by", "payment", "credit_entry__undone_by").order_by("-pk")


def _shift_for(request: StaffRequest, pk: int, *permissions: str) -> Shift:
    """The shift, for its cashier or for a person with one of the permissions."""
    if not any(request.user.has_perm(right) for right in (Right.USE_DRAWERS, *permissions)):
        raise PermissionDenied
    shift = get_object_or_404(
        Shift.objects.select_related("drawer", "cashier", "closed_by", "taken_from__cashier", "day"), pk=pk
    )
    if shift.cashier_id != request.user.pk and not any(request.user.has_perm(right) for right in permissions):
        raise PermissionDenied
    return shift


@staff_only()
@require_GET
def shift_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One shift with its sums and entries; fit for paper, A4 or 80 mm (`?paper=80`)."""
    shift = _shift_for(request, pk, Right.VIEW_SHIFTS)
    sees_cost = request.user.has_perm(Right.VIEW_COST)
    totals = services.totals_of([shift.pk], with_cost=sees_cost)[shift.pk]
    page = keyset_page(sales_of(shift), request.GET, time_field="at")
    paper = request.GET.get("paper", "")
    ended = Payment.objects.exclude(outcome=Outcome.OPEN).order_by("ended_at", "pk")
    ended = ended.select_related("order", "sold_in__drawer", "ended_in__drawer")
    handed_to, after, refunded, sold_later, ended_later, ended_here, unsettled, entries = read_together(
        Shift.objects.filter(taken_from=shift).select_related("cashier"),
        _after(shift)[:1],
        shift.payments.exclude(refund_entry__shift=shift)
        .filter(refund_entry__isnull=False)
        .select_related("refund_entry__shift__cashier", "refund_entry__shift__drawer")
        .order_by("pk")[:_MOST_LATE],
        shift.sold_later.select_related("sold_in__cashier", "sold_in__drawer").order_by("pk")[:_MOST_LATE],
        ended.filter(Q(ended_in=None) | ~Q(ended_in=shift), sold_in=shift)[:_MOST_LATE],
        ended.filter(ended_in=shift).exclude(sold_in=shift)[:_MOST_LATE],
        services.unsettled([shift])[:_MOST_LATE],
        entries_of(shift)[:_MOST_ENTRIES],
    )
    may_act = shift.cashier_id == request.user.pk or request.user.has_perm(Right.MANAGE_DRAWERS)
    context: dict[str, Any] = {
        "shift": shift,
        "first_reason": services.first_reason_of(shift) if shift.correction else "",
        "handed_to": handed_to[0] if handed_to else None,
        "is_blind": services.is_blind(shift, request.user),
        "opened_after": after[0] if after and after[0].opening_difference else None,
        "totals": totals,
        "lines": cash_lines(totals),
        "others": other_lines(totals),
        "page": page,
        "table": SaleTable(page.rows),
        "entries": EntryTable(entries),
        "counts": _counts(shift),
        "refunded": refunded,
        "sold_later": sold_later,
        "ended_later": ended_later,
        "ended_here": ended_here,
        "unsettled": unsettled,
        "sees_cost": sees_cost,
        "may_close": shift.is_open and may_act,
        "may_correct": may_act and not after and shift.day and not shift.day.signed_at and shift.first_counted is None,
        "paper": paper if paper in _PAPERS else "",
        **explained_facts(shift, request.user),
    }
    return render(request, "drawers/shift_paper.html" if paper == "80" else "drawers/shift_detail.html", context)


def explained_facts(shift: Shift, person: User) -> dict[str, Any]:
    """For `drawers/explained.html`: reasons written after counts, and the differences that the person may explain."""
    explained = services.explanations_of([shift])[shift.pk]
    is_possible = services.may_explain(shift, person) and not (shift.day and shift.day.signed_at)
    return {"explained": explained, "unexplained": services.unexplained(shift, explained) if is_possible else {}}


@staff_only(Right.USE_DRAWERS)
@require_POST
def shift_explain(request: StaffRequest, pk: int) -> HttpResponse:
    """Write the reason for a difference of a count (`count`: "opening" or "closing"), once, after a blind count."""
    shift = _shift_for(request, pk, Right.VIEW_SHIFTS, Right.MANAGE_DRAWERS)
    with refusal_shown(request):
        facts = {"count": request.POST.get("count", ""), "reason": request.POST.get("reason", "")}
        services.explain(shift, actor=request.user, **facts)
        messages.success(request, _("The reason is written down."), extra_tags="explained")
    return redirect("drawer" if shift.is_open and shift.cashier_id == request.user.pk else shift)


def _after(shift: Shift) -> QuerySet[Shift]:
    """The shifts at the same drawer after this one, the next one first."""
    later = Shift.objects.filter(drawer=shift.drawer_id, opened_at__gt=shift.opened_at)
    return later.select_related("cashier").order_by("opened_at", "pk")


def _counts(shift: Shift) -> list[tuple[int, int, int]]:
    """The count of a closed shift: (rupiah of the note or coin, their number, their sum), without absent ones."""
    pieces = shift.counted_pieces or []
    return [(value, number, value * number) for value, number in zip(DENOMINATIONS, pieces, strict=False) if number]


@staff_only()
@require_GET
def shift_csv(request: StaffRequest, pk: int) -> HttpResponseBase:
    """All sales and entries of one shift as CSV."""
    shift = _shift_for(request, pk, Right.VIEW_SHIFTS)
    if services.is_blind(shift, request.user):
        messages.error(request, _("The file is there when the drawer is counted."), extra_tags="not_counted")
        return redirect(shift)
    record(EXPORT_MADE, actor=request.user, subject=f"shift {shift.pk}", facts={"format": "csv"})
    sold = shift.payments.select_related("order", "seller", "debt__account__customer").order_by("at", "pk").iterator()
    entered = shift.entries.select_related("person", "payment").order_by("pk").iterator()
    return csv_answer(chain(sold, entered), shift_fields(), f"shift-{shift.pk}.csv")


@staff_only()
@require_http_methods(["GET", "POST"])
def shift_close(request: StaffRequest, pk: int) -> HttpResponse:
    """Count the drawer, and close the shift or hand it over."""
    shift = _shift_for(request, pk, Right.MANAGE_DRAWERS)
    form = CloseForm(request.POST or None, shift=shift)
    if not shift.is_open:
        return _closed_before(request, shift, form)
    if request.method == "POST" and "sum" not in request.POST and form.is_valid():
        closer = request.user
        shown: Shift | str = shift
        facts = {"pieces": form.pieces, "actor": closer, "reason": form.cleaned_data["reason"]}
        try:
            if form.cleaned_data["to"]:
                shown = _hand_over(request, shift, form, facts)
            else:
                services.close_shift(shift, **facts)
                messages.success(request, _("The shift is closed."), extra_tags="closed")
        except Refused as refusal:
            if refusal.reason == "closed":
                return _closed_before(request, _shift_for(request, pk, Right.MANAGE_DRAWERS), form)
            form.add_error(_field_of(refusal), ValidationError(str(refusal), code=refusal.code))
        else:
            open_cash_drawer(request, "closed", shift.pk, actor=closer)
            return redirect(shown)
    is_blind = policies().blind_count
    odd, more = (0, 0) if is_blind else services.rounded_up(shift)
    context = {
        "shift": shift,
        "form": form,
        "expected": None if is_blind else services.expected_cash(shift),
        "odd_sales": odd,
        "rounded_up": more,
        "unsettled": services.unsettled([shift])[:_MOST_LATE],
    }
    return render(request, "drawers/shift_close.html", context)


def _hand_over(request: StaffRequest, shift: Shift, form: CloseForm, facts: dict[str, Any]) -> Shift | str:
    """Hand the shift over; at a till the receiver goes on. Return the address of the redirect. Raises `Refused`."""
    giver, to, secret = request.user, form.cleaned_data["to"], form.cleaned_data["secret"]
    token = getattr(request, "till_token", "")
    way = services.confirm_receiver(to, secret, actor=giver, till_token=token)
    taken = services.hand_over(shift, to=to, confirmed_by=way, **facts)
    names = {"name": to.shown_name, "giver": giver.shown_name}
    signed_in = go_on_with(request, to, pin=secret if way == "pin" else "")
    if signed_in in {None, to}:
        messages.success(request, _("Handed over to %(name)s.") % names, extra_tags="handed")
        return taken if signed_in else "till"
    words = _("Handed over to %(name)s. %(giver)s is still signed in here: sign out before %(name)s sells here.")
    messages.warning(request, words % names, extra_tags="handed_still_here")
    return shift


def _field_of(refusal: Refused) -> str | None:
    """The field of the closing form that the refusal is about."""
    if isinstance(refusal, DifferenceUnexplained):
        return "reason"
    if isinstance(refusal, DrawerRefused):
        return "to" if refusal.reason in {"person_busy", "no_right", "other_branch"} else None
    return "secret"


@staff_only()
@require_http_methods(["GET", "POST"])
def shift_correct(request: StaffRequest, pk: int) -> HttpResponse:
    """Correct a wrong count of a closed drawer, once."""
    shift = _shift_for(request, pk, Right.MANAGE_DRAWERS)
    form = CorrectForm(request.POST or None, shift=shift)
    if request.method == "POST" and "sum" not in request.POST and form.is_valid():
        with refusal_shown(request):
            services.correct_count(shift, pieces=form.pieces, actor=request.user, reason=form.cleaned_data["reason"])
            messages.success(request, _("The count is corrected."), extra_tags="corrected")
        return redirect(shift)
    return render(request, "drawers/shift_correct.html", {"shift": shift, "form": form})


def _closed_before(request: StaffRequest, shift: Shift, form: CloseForm) -> HttpResponse:
    """Redirect to the shift, which was closed before, and show the typed values if they are different."""
    if form.is_bound and shift.closed_by:
        is_same = form.is_valid() and (form.pieces, form.cleaned_data["reason"]) == (shift.counted_pieces, shift.reason)
        if not (is_same and shift.closed_by == request.user):
            facts = {"name": shift.closed_by.shown_name, "at": clock(shift.closed_at), "amount": rupiah(shift.counted)}
            words = _("%(name)s has closed this shift (%(at)s, counted %(amount)s).") % facts
            messages.warning(request, f"{words} {form.not_entered()}", extra_tags="closed_before")
    return redirect(shift)
