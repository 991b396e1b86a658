"""The own drawer: opening it, what is in it now, paying in and out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.forms import first_fault
from drawers import services
from drawers.forms import GiveBackForm, OpenForm, PaidForm, PaymentForm
from drawers.models import Drawer, Shift
from drawers.presenting import cash_lines, other_lines
from drawers.tables import EntryTable
from drawers.views.shifts import entries_of
from purchases.models import Order

_ROWS = 30
# So many of a person's own shifts are looked through for what was not settled.
_SHIFTS = 5


@staff_only("drawers.use_drawer")
@require_GET
def drawer_here(request: StaffRequest) -> HttpResponse:
    """The own shift as it stands now, or the count that opens one."""
    shift = services.open_shift_of(request.user.pk)
    if shift is None:
        return _closed(request, OpenForm(initial={"drawer": _last_drawer(request)}))
    return _open(request, shift, PaidForm())


def _last_drawer(request: StaffRequest) -> int | None:
    return Shift.objects.filter(cashier=request.user.pk).order_by("-opened_at").values_list("drawer", flat=True).first()


def _closed(request: StaffRequest, form: OpenForm, status: int = 200) -> HttpResponse:
    last = Shift.objects.filter(cashier=request.user.pk).select_related("drawer", "cashier").order_by("-opened_at")
    context = {"form": form, "has_free": form.fields["drawer"].queryset.exists(), "last": last.first()}  # type: ignore[attr-defined]
    return render(request, "drawers/drawer_closed.html", context, status=status)


def _open(request: StaffRequest, shift: Shift, form: PaidForm, status: int = 200) -> HttpResponse:
    services.catch_up(shift)
    totals = services.totals_of([shift.pk])[shift.pk]
    lately = list(Shift.objects.filter(cashier=shift.cashier_id).order_by("-opened_at", "-pk")[:_SHIFTS])
    context: dict[str, Any] = {
        "shift": shift,
        "totals": totals,
        "lines": cash_lines(totals),
        "others": other_lines(totals),
        "table": EntryTable(entries_of(shift)[:_ROWS]),
        "form": form,
        "unsettled": services.unsettled(lately)[:_ROWS],
    }
    return render(request, "drawers/drawer_open.html", context, status=status)


@staff_only("drawers.use_drawer")
@require_POST
def drawer_open(request: StaffRequest) -> HttpResponse:
    """Begin one's own shift with what was counted."""
    form = OpenForm(request.POST)
    if form.is_valid():
        drawer: Drawer = form.cleaned_data["drawer"]
        try:
            services.open_shift(
                drawer, pieces=form.pieces, actor=request.user, reason=form.cleaned_data["reason"], request=request
            )
        except Refused as refusal:
            form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("The drawer is open. Your sales enter it by themselves."), extra_tags="opened")
            return redirect("drawer")
    return _closed(request, form)


@staff_only("drawers.use_drawer")
@require_POST
def drawer_paid(request: StaffRequest) -> HttpResponse:
    """Note cash that came in or went out for another reason than a sale."""
    shift = services.open_shift_of(request.user.pk)
    if shift is None:
        return redirect("drawer")
    form = PaidForm(request.POST)
    if not form.is_valid():
        return _open(request, shift, form)
    said = form.cleaned_data
    act = services.pay_in if said["way"] == "in" else services.pay_out
    with refusal_shown(request):
        act(shift, amount=said["amount"], reason=said["reason"], actor=request.user, token=said["token"])
        messages.success(request, _("Entered."), extra_tags="paid")
    return redirect("drawer")


@staff_only("purchases.view_order", "drawers.use_drawer")
@require_POST
def sale_paid(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Note how the customer paid for an order."""
    order = get_object_or_404(Order, ref_id=ref_id)
    form = PaymentForm(request.POST)
    if not form.is_valid():
        messages.error(request, first_fault(form), extra_tags="no_payment")
        return redirect(order)
    with refusal_shown(request):
        services.note_payment(order, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Noted how the customer paid."), extra_tags="payment_noted")
    return redirect(order)


@staff_only("purchases.view_order", "drawers.give_back")
@require_POST
def sale_given_back(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Note that the customer has the money back, and how."""
    order = get_object_or_404(Order, ref_id=ref_id)
    form = GiveBackForm(request.POST, person=request.user)
    if not form.is_valid():
        messages.error(request, first_fault(form), extra_tags="no_refund")
        return redirect(order)
    with refusal_shown(request):
        services.give_back(order, actor=request.user, request=request, **form.cleaned_data)
        messages.success(request, _("Noted as given back."), extra_tags="given_back")
    return redirect(order)
