"""The receipt ("struk") for the customer: look at it, print it; from the second print on it says that it is a copy."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from core.access import StaffRequest, staff_only
from purchases.errors import ActionRefused
from purchases.models import Order, ReceiptPrint
from purchases.models.receipts import Paper
from purchases.presenting import serial_number, shown_destination
from purchases.services.actions import Action, allowed_actions, may_ever
from purchases.services.receipts import print_receipt
from purchases.states import Status


@staff_only("purchases.view_order")
@require_http_methods(["GET", "POST"])
def order_receipt(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Show the receipt on the chosen paper (GET `?paper=`), or note a print and go to its page (POST)."""
    if request.method == "POST" and not may_ever(Action.PRINT_RECEIPT, request.user):
        raise PermissionDenied
    order = get_object_or_404(Order.objects.select_related("product__brand", "product__category"), ref_id=ref_id)
    if order.status not in {Status.SUCCESS, Status.REVERSED}:
        messages.error(request, _("Only what has succeeded has a receipt."), extra_tags="no_receipt")
        return redirect(order)
    paper = _paper(request)
    if request.method == "POST":
        try:
            printed = print_receipt(order, paper=paper, printed_by=request.user, request=request)
        except ActionRefused as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
            return redirect(order)
        # The shop has one printer: the paper is remembered for the next receipt.
        request.session["receipt_paper"] = paper.value
        return redirect("order_receipt_print", ref_id=order.ref_id, number=printed.number)
    prints = list(order.receipt_prints.select_related("printed_by"))
    may_print = Action.PRINT_RECEIPT in allowed_actions(order, request.user)
    context = {**_facts(order, paper), "papers": Paper.choices, "prints": prints, "may_print": may_print}
    return render(request, "purchases/receipt.html", context)


@staff_only("purchases.view_order")
@require_GET
def receipt_print(request: StaffRequest, ref_id: str, number: int) -> HttpResponse:
    """One print as it goes to the printer; its page opens the browser's print window by itself."""
    printed = get_object_or_404(
        ReceiptPrint.objects.select_related("order__product__brand", "order__product__category"),
        order__ref_id=ref_id,
        number=number,
    )
    context = {**_facts(printed.order, Paper(printed.paper)), "printed": printed}
    return render(request, "purchases/receipt_print.html", context)


def _paper(request: StaffRequest) -> Paper:
    wanted = request.POST.get("paper") or request.GET.get("paper") or request.session.get("receipt_paper", "")
    return Paper(wanted) if wanted in Paper.values else Paper.MM58


def _facts(order: Order, paper: Paper) -> dict[str, Any]:
    return {
        "order": order,
        "is_void": order.status == Status.REVERSED,
        "paper": paper.value,
        "destination": shown_destination(order),
        "serial": serial_number(order),
    }
