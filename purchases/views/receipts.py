"""The receipt ("struk") for the customer: show it, print it; from the second print on it says that it is a copy."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from branches.services import branch_to_show
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.rights import Right
from purchases.models import Order, ReceiptPrint
from purchases.receipt_printing import direct_job
from purchases.receipts import Receipt, ReceiptPaper
from purchases.services.actions import Action, allowed_actions, may_ever
from purchases.services.receipts import print_receipt
from purchases.states import Status
from shop.models import Paper, Shop
from shop.presenting import Letterhead
from shop.services import current_shop
from tills.printing import print_next, printer_here


@staff_only(Right.VIEW_ORDERS)
@require_http_methods(["GET", "POST"])
def order_receipt(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Show the receipt on the chosen paper (GET `?paper=`), or note a print and go to its page (POST)."""
    if request.method == "POST" and not may_ever(Action.PRINT_RECEIPT, request.user):
        raise PermissionDenied
    order = get_object_or_404(Order.objects.with_payment().select_related("bill_check"), ref_id=ref_id)
    if order.status not in {Status.SUCCESS, Status.REVERSED}:
        messages.error(request, _("Only what has succeeded has a receipt."), extra_tags="no_receipt")
        return redirect(order)
    shop = current_shop()
    paper = chosen_paper(request, shop)
    if request.method == "POST":
        with refusal_shown(request):
            printed = print_receipt(order, paper=paper, printed_by=request.user)
            remember_paper(request, paper)
            print_next(request, key_of([printed]))
            return redirect("order_receipt_print", ref_id=order.ref_id, number=printed.number)
        return redirect(order)
    prints = list(order.receipt_prints.select_related("printed_by", "shop", "branch"))
    context = {
        "order": order,
        "sheet": ReceiptPaper(head_of_next(order, prints, shop), paper, [Receipt(order)]),
        "papers": Paper.choices,
        "paper": paper.value,
        "prints": prints,
        "printer": printer_here(request),
        "may_print": Action.PRINT_RECEIPT in allowed_actions(order, request.user),
        "is_void": order.status == Status.REVERSED,
        "head": Letterhead.of(shop, branch_to_show(order.payment.branch_id)),  # for the message, which is written now
    }
    return render(request, "purchases/receipt.html", context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def receipt_print(request: StaffRequest, ref_id: str, number: int) -> HttpResponse:
    """One print as it goes to the printer; its page opens the browser's print window automatically."""
    return printed_page(request, ReceiptPrint.objects.filter(order__ref_id=ref_id, number=number))


@staff_only(Right.VIEW_ORDERS)
@require_GET
def sheet_print(request: StaffRequest, sheet: uuid.UUID) -> HttpResponse:
    """Several prints on one paper, as they go to the printer."""
    return printed_page(request, ReceiptPrint.objects.filter(sheet=sheet).order_by("order"))


def head_of_next(order: Order, prints: Sequence[ReceiptPrint], shop: Shop) -> Letterhead:
    """The head of the order's next print: that of its first print (`prints`), else the present shop and branch."""
    if prints and prints[0].shop:
        return Letterhead.of(prints[0].shop, prints[0].branch)
    return Letterhead.of(shop, branch_to_show(order.payment.branch_id))


def chosen_paper(request: StaffRequest, shop: Shop) -> Paper:
    """The paper of the request, else that of the till's printer, else the last one of this browser, else the shop's."""
    wanted = request.POST.get("paper") or request.GET.get("paper")
    if not wanted:
        printer = printer_here(request)
        wanted = printer.roll if printer else request.session.get("receipt_paper", "")
    return Paper(wanted if wanted in Paper.values else shop.paper)


def remember_paper(request: StaffRequest, paper: Paper) -> None:
    """Remember the paper for the next receipt of this browser, which has one printer."""
    request.session["receipt_paper"] = paper.value


def receipts_address(orders: Iterable[Order]) -> str:
    """The address that shows the receipts of these orders."""
    return f"{reverse('order_receipts')}?orders={','.join(order.ref_id for order in orders)}"


def key_of(prints: Sequence[ReceiptPrint]) -> str:
    """The key of the page of these prints."""
    return ",".join(str(key) for key in sorted(printed.pk for printed in prints))


def printed_page(request: StaffRequest, queryset: QuerySet[ReceiptPrint]) -> HttpResponse:
    """The page of these prints, each sheet on a separate paper."""
    of_order = ("placed_by", "product", "bill_check", "payment__debt__account__customer")
    prints = list(queryset.select_related("shop", "branch", *(f"order__{name}" for name in of_order)))
    if not prints:
        raise Http404
    by_sheet: defaultdict[object, list[ReceiptPrint]] = defaultdict(list)
    for printed in prints:
        by_sheet[printed.sheet or printed.pk].append(printed)
    orders = [printed.order for printed in prints]
    sheets = [_sheet(of_sheet) for of_sheet in by_sheet.values()]
    context = {
        "sheets": sheets,
        "only": sheets[0] if len(sheets) == 1 else None,
        "orders": orders,
        "again": receipts_address(orders),
        "paper": sheets[0].paper.value,
        "job": direct_job(request, sheets, key_of(prints)),
    }
    return render(request, "purchases/receipt_print.html", context)


def _sheet(prints: Sequence[ReceiptPrint]) -> ReceiptPaper:
    # A print from before the shop had settings names no version.
    head = Letterhead.of(prints[0].shop or current_shop(), prints[0].branch)
    return ReceiptPaper(head, Paper(prints[0].paper), [Receipt(printed.order, printed) for printed in prints])
