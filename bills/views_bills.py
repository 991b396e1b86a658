"""Bill checks: the list, one bill live, paying it, and what a person does when that is refused."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from backoffice.access import StaffRequest, staff_only
from backoffice.money import rupiah
from backoffice.paging import keyset_page
from balance.services import request_balance_reading
from bills import services
from bills.errors import AlreadyPaid, CheckExpired, Replaced, TotalChanged
from bills.filters import BillFilter
from bills.forms import PayForm
from bills.models import BillCheck, State
from bills.presenting import ShownBill
from purchases.destinations import kind_of, shown
from purchases.errors import BalanceShort, NotPossible, OpenDuplicate, OrderRefused
from purchases.models import Order
from purchases.order_life import Status
from upstream.errors import UpstreamError

ROWS = 50


def _checks() -> QuerySet[BillCheck]:
    return BillCheck.objects.select_related("product__brand", "product__category", "checked_by")


@staff_only("bills.view_billcheck")
@require_GET
def bill_list(request: StaffRequest) -> HttpResponse:
    """The checks that the filters in the URL leave, newest first, 50 a page."""
    query = request.GET.copy()
    for name in query:
        query[name] = query.get(name, "").replace("\0", "")  # PostgreSQL refuses a NUL
    checks = BillCheck.objects.with_state().select_related("product__brand", "product__category")
    found = BillFilter(query, queryset=checks)
    page = keyset_page(found.qs, query, size=ROWS)
    context = {
        "filter": found,
        "rows": _rows(page.rows),
        "page": page,
        "is_filtered": bool(page.kept),
        # The rows refresh themselves while the biller is being asked about one of them.
        "is_waiting": any(check.now_state == State.PENDING and check.next_ask_at for check in page.rows),
    }
    return render(request, "bills/bill_list.html", context)


def _rows(checks: list[BillCheck]) -> list[dict[str, Any]]:
    """The checks with their number for reading, and with the payment that is under way."""
    payments = Order.objects.open().filter(ref_id__in=[check.ref_id for check in checks])
    open_orders = {order.ref_id: order for order in payments}
    return [
        {
            "check": check,
            "destination": shown(kind_of(check.product), check.destination),
            "open_order": open_orders.get(check.ref_id),
        }
        for check in checks
    ]


@staff_only("bills.view_billcheck")
@require_GET
def bill_detail(request: StaffRequest, ref_id: str) -> HttpResponse:
    """One bill; it follows the biller's answer, its own expiry and its payment by itself."""
    bill = ShownBill.of(get_object_or_404(_checks(), ref_id=ref_id))
    return render(request, "bills/bill_detail.html", {"bill": bill})


@staff_only("bills.view_billcheck")
@require_GET
def bill_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """When to ask next, and the bill anew if it is not as the page shows it (`seen`)."""
    bill = ShownBill.of(get_object_or_404(_checks(), ref_id=ref_id))
    context = {"bill": bill, "is_new": request.GET.get("seen") != bill.version}
    return render(request, "bills/bill_detail.html#live", context)


@staff_only("bills.view_billcheck", "bills.check_bill")
@require_http_methods(["GET", "POST"])
def bill_pay(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Pay the total that was seen (`amount`), once, however often it is pressed; a held payment is sent again."""
    check = get_object_or_404(_checks(), ref_id=ref_id)
    if request.method != "POST":  # the address of a refused payment, opened again
        return redirect(check)
    form = PayForm(request.POST)
    if not form.is_valid():
        return redirect(check)
    amount = form.cleaned_data["amount"]
    order = check.order
    try:
        if order is not None and order.status == Status.HELD:
            order = services.pay_again(order, amount=amount, actor=request.user)
        else:
            order = services.pay_bill(check, amount=amount, paid_by=request.user)
    except NotPossible as refusal:
        # Held still: it says why. Otherwise somebody else pressed it meanwhile, and the payment's page tells the rest.
        if order and Order.objects.filter(pk=order.pk, status=Status.HELD).exists():
            messages.error(request, str(refusal))
    except OrderRefused as refusal:
        if isinstance(refusal, BalanceShort):
            request_balance_reading()  # a top-up of this minute is found the sooner
        check.refresh_from_db()
        context = {"bill": ShownBill.of(check), "refusal": explained(refusal, seen=amount)}
        return render(request, "bills/bill_detail.html", context)
    return redirect(order or check)


def explained(refusal: OrderRefused, *, seen: int) -> dict[str, Any]:
    """A refused payment for the page: its words, its kind, and where its next step leads."""
    facts: dict[str, Any] = {"words": str(refusal), "kind": "other", "url": "", "ref_id": ""}
    match refusal:
        case TotalChanged():
            return facts | {"kind": "total_changed", "before": seen, "total": refusal.total}
        case BalanceShort() | CheckExpired():
            return facts | {"kind": "expired" if isinstance(refusal, CheckExpired) else "balance_short"}
        case Replaced():
            return facts | _leads_to("replaced", refusal.newer)
        case AlreadyPaid():
            return facts | _leads_to("already_paid", refusal.order)
        case OpenDuplicate():
            return facts | _leads_to("open_duplicate", refusal.order)
    return facts


def _leads_to(kind: str, target: BillCheck | Order) -> dict[str, Any]:
    return {"kind": kind, "url": target.get_absolute_url(), "ref_id": target.ref_id}


@staff_only("bills.view_billcheck", "bills.check_bill")
@require_POST
def bill_ask(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Ask the biller the identical question again: a total that has changed, or an answer that never came."""
    check = get_object_or_404(_checks(), ref_id=ref_id)
    before = check.total
    try:
        check = services.ask_again(check)
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    except UpstreamError:
        messages.error(request, _("The biller could not be asked just now. Nothing has changed; try again."))
    else:
        if check.total is None:
            messages.success(request, _("Asking the biller again."))
        elif check.total == before:
            messages.success(request, _("The total is still %(total)s.") % {"total": rupiah(check.total)})
    return redirect(check)


@staff_only("bills.view_billcheck", "bills.check_bill")
@require_POST
def bill_again(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Check the same bill anew, with a new ref_id, and show that check."""
    check = get_object_or_404(_checks(), ref_id=ref_id)
    try:
        check = services.start_check(
            product=check.product,
            destination=check.destination,
            checked_by=request.user,
            saved_number=check.saved_number,
        )
    except OrderRefused as refusal:
        messages.error(request, str(refusal))
    return redirect(check)
