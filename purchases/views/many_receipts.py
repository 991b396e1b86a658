"""The receipts of several orders at once: show them, then print them, each like a single receipt."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from branches.seeing import narrowed
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.keys import typed_keys
from core.rights import Right
from purchases.models import Order, ReceiptPrint
from purchases.receipts import Receipt, ReceiptPaper, papers_of
from purchases.services.actions import Action, may_ever, not_possible
from purchases.services.bulk import MOST_AT_ONCE, Result
from purchases.services.receipts import print_receipts
from purchases.states import Status
from purchases.views.receipts import chosen_paper, head_of_next, key_of, printed_page, receipts_address, remember_paper
from shop.models import Paper
from shop.services import current_shop
from tills.printing import print_next, printer_here


@staff_only(Right.VIEW_ORDERS)
@require_http_methods(["GET", "POST"])
def order_receipts(request: StaffRequest) -> HttpResponse:
    """Show the receipts of these orders (`orders`: ref_ids with commas) on the chosen paper, or print them (POST).

    Only the POST notes a print of each.
    """
    if request.method == "POST" and not may_ever(Action.PRINT_RECEIPT, request.user):
        raise PermissionDenied
    ref_ids = (request.POST.get("orders") or request.GET.get("orders", "")).split(",")[:MOST_AT_ONCE]
    seen = narrowed(Order.objects.with_payment(), "payment__branch").filter(ref_id__in=ref_ids)
    orders = list(
        seen.select_related("bill_check")
        .prefetch_related("receipt_prints__shop", "receipt_prints__branch")
        .order_by("-created_at", "-pk")
    )
    printable = [order for order in orders if order.status == Status.SUCCESS]
    if not printable:
        messages.error(request, _("Only what has succeeded has a receipt."), extra_tags="no_receipt")
        return redirect("order_list")
    shop = current_shop()
    paper = chosen_paper(request, shop)
    sheets = papers_of(printable)
    if request.method == "POST":
        with refusal_shown(request):
            prints = print_receipts(sheets, paper=paper, printed_by=request.user)
            remember_paper(request, paper)
            print_next(request, key_of(prints))
            return redirect(_page_of(prints))
        return redirect(receipts_address(orders))
    shown = [
        ReceiptPaper(
            head_of_next(of_sheet[0], list(of_sheet[0].receipt_prints.all()), shop),
            paper,
            [Receipt(order) for order in of_sheet],
        )
        for of_sheet in sheets
    ]
    context = {
        "sheets": shown,
        "refs": ",".join(order.ref_id for order in printable),
        "left_out": [Result(order, str(not_possible(order))) for order in orders if order.status != Status.SUCCESS],
        "copies": sum(bool(order.receipt_prints.all()) for order in printable),
        "papers": Paper.choices,
        "paper": paper.value,
        "printer": printer_here(request),
        "may_print": may_ever(Action.PRINT_RECEIPT, request.user),
    }
    return render(request, "purchases/receipts.html", context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def prints(request: StaffRequest) -> HttpResponse:
    """Prints of several papers (`prints`: their keys with commas), as they go to the printer one after the other."""
    typed = request.GET.get("prints", "").split(",")[:MOST_AT_ONCE]
    keys = typed_keys(typed)
    made = ReceiptPrint.objects.filter(pk__in=keys).order_by("pk")
    return printed_page(request, narrowed(made, "order__payment__branch"))


def _page_of(made: list[ReceiptPrint]) -> str:
    """The address of the page of these prints."""
    if len(made) == 1:
        return reverse("order_receipt_print", args=[made[0].order.ref_id, made[0].number])
    if made[0].sheet and len({printed.sheet for printed in made}) == 1:
        return reverse("receipt_sheet", args=[made[0].sheet])
    return f"{reverse('receipt_prints')}?prints={key_of(made)}"
