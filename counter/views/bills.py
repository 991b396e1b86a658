"""A bill at the counter: the biller is asked and paid in the panel, by the services of the bills."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from bills import services
from bills.errors import NotABill
from bills.forms import PayForm
from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.states import Standing
from bills.views.bills import pay_seen
from catalogue.destinations import InvalidDestination
from catalogue.forms import DestinationForm
from catalogue.models import ProductType
from catalogue.services import find_product
from core.access import StaffRequest, staff_only
from core.forms import faults_of
from core.rights import Right
from counter.presenting import in_fours
from counter.views.sending import elsewhere, show_panel, show_sent
from customers.models import SavedNumber
from purchases.errors import ActionRefused, NeedsApproval
from purchases.models import Order
from purchases.views.approving import ask_and_show

_NOTHING_NEW = 204


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS, Right.BUY)
@require_POST
def counter_check(request: StaffRequest) -> HttpResponse:
    """Ask the biller (`product`) about the number; the answer comes into the panel."""
    product = find_product(request.POST.get("product", "")[:100], ProductType.POSTPAID)
    if product is None:
        raise Http404
    form = DestinationForm(request.POST, product=product)
    if not form.is_valid():
        return show_panel(request, pinned=product.code, q=request.POST.get("destination", ""), faults=faults_of(form))
    saved = SavedNumber.objects.filter(product=product, destination=form.cleaned).first()
    try:
        check = services.start_check(
            product=product, destination=form.cleaned, checked_by=request.user, saved_number=saved
        )
    except (InvalidDestination, NotABill) as refusal:
        return show_panel(request, pinned="", q=request.POST.get("destination", ""), faults=[str(refusal)])
    if not request.headers.get("HX-Request"):
        return redirect("counter_bill", ref_id=check.ref_id)
    return _show(request, check.ref_id)


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS, Right.BUY)
@require_GET
def counter_bill(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The bill in the panel."""
    return _show(request, ref_id)


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS, Right.BUY)
@require_GET
def counter_bill_now(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The biller's answer, once there is one; before that, once, that it takes long (`slow`: the panel says so)."""
    bill = _read(ref_id)
    if bill.standing is Standing.ASKING and bill.is_slow == ("slow" in request.GET):
        return HttpResponse(status=_NOTHING_NEW)
    return render(request, "counter/bill.html", _facts(bill))


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS, Right.BUY)
@require_POST
def counter_pay(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Pay the total that the panel shows, once, however often it is pressed."""
    check = get_object_or_404(BillCheck.objects.select_related("order"), ref_id=ref_id)
    form = PayForm(request.POST)
    if not form.is_valid():
        return _show(request, ref_id)
    try:
        paid = pay_seen(request, check, amount=form.cleaned_data["amount"], fee=form.cleaned_data["fee"] or 0)
    except NeedsApproval as need:
        return elsewhere(request, ask_and_show(request, need))
    except ActionRefused as refusal:
        return _show(request, ref_id, faults=[str(refusal)])
    return show_sent(request, paid) if isinstance(paid, Order) else _show(request, ref_id, refusal=paid)


def _read(ref_id: str) -> ShownBill:
    found = ShownBill.read(BillCheck.objects.filter(ref_id=ref_id))
    if not found:
        raise Http404
    return found[0]


def _show(request: StaffRequest, ref_id: str, **more: Any) -> HttpResponse:
    return show_panel(request, **_facts(_read(ref_id)), q="", pinned="", **more)


def _facts(bill: ShownBill) -> dict[str, Any]:
    return {"bill": bill, "shown_number": in_fours(bill.destination)}
