"""One paper for all paid bills of a batch."""

import uuid

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from bills.models import BillCheck
from branches.services import branch_to_show
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.rights import Right
from purchases.models import Order
from purchases.receipts import Receipt, ReceiptPaper
from purchases.services import Action
from purchases.services.actions import may_ever
from purchases.services.receipts import print_receipts
from purchases.states import Status
from purchases.views.receipts import chosen_paper, key_of, remember_paper
from shop.models import Paper
from shop.presenting import Letterhead
from shop.services import current_shop
from tills.printing import print_next, printer_here


@staff_only(Right.VIEW_BILLS, Right.VIEW_ORDERS)
@require_http_methods(["GET", "POST"])
def batch_receipt(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """Show the paid bills of the batch on the chosen paper (GET), or note their prints and go to their page (POST)."""
    if request.method == "POST" and not may_ever(Action.PRINT_RECEIPT, request.user):
        raise PermissionDenied
    if not BillCheck.objects.filter(batch=batch).exists():
        raise Http404
    paid = BillCheck.objects.filter(batch=batch, order__status=Status.SUCCESS)
    orders = list(
        Order.objects.with_payment().select_related("bill_check").filter(ref_id__in=paid.values("order")).order_by("pk")
    )
    if not orders:
        messages.error(request, _("None of these bills is paid yet."), extra_tags="no_receipt")
        return redirect("counter_batch", batch=batch)
    shop = current_shop()
    paper = chosen_paper(request, shop)
    if request.method == "POST":
        with refusal_shown(request):
            prints = print_receipts([orders], paper=paper, printed_by=request.user)
            remember_paper(request, paper)
            print_next(request, key_of(prints))
            if prints[0].sheet is None:
                return redirect("order_receipt_print", ref_id=orders[0].ref_id, number=prints[0].number)
            return redirect("receipt_sheet", sheet=prints[0].sheet)
        return redirect("counter_batch", batch=batch)
    head = Letterhead.of(shop, branch_to_show(orders[0].payment.branch_id))
    context = {
        "batch": batch,
        "sheet": ReceiptPaper(head, paper, [Receipt(order) for order in orders]),
        "head": head,
        "papers": Paper.choices,
        "paper": paper.value,
        "printer": printer_here(request),
        "may_print": may_ever(Action.PRINT_RECEIPT, request.user),
    }
    return render(request, "bills/batch_receipt.html", context)
