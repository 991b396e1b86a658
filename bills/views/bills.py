"""Bill checks: the list, one bill live, paying it, and what a person does when that is refused."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.kinds import Kind
from audit.services import record
from bills import services
from bills.errors import AlreadyPaid, FeeChanged, Replaced, TotalChanged
from bills.filters import BillFilter
from bills.forms import PayForm
from bills.models import BillCheck, BillCheckQuerySet
from bills.presenting import ShownBill
from bills.states import AnswerKind, Standing
from bills.tables import BillTable
from core.access import StaffRequest, staff_only
from core.errors import OrderRefused, refusal_shown
from core.live import Live, seen_keys
from core.money import rupiah
from core.numbers import sees_whole_numbers, whole_numbers
from core.paging import keyset_page
from core.rights import Right
from drawers.forms import PaidByForm
from gateway.services import request_balance_reading
from purchases.errors import ActionRefused, BalanceShort, NeedsApproval, OpenDuplicate
from purchases.models import Order
from purchases.states import Status
from purchases.views.approving import ask_and_show
from staff.models import User
from upstream.error_codes import meaning_of
from upstream.errors import UpstreamError


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_list(request: StaffRequest) -> HttpResponse:
    """The checks that the filters in the URL leave, newest first, 50 a page; it follows those that are moving."""
    found = BillFilter(request.GET, queryset=BillCheck.objects.all())
    page = keyset_page(found.qs, request.GET, shown=_listed())
    table = BillTable(page.rows)
    context = {"filter": found, "page": page, "table": table, "live": _live(request, table)}
    return render(request, "bills/bill_list.html", context)


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and when to ask next."""
    table = BillTable(_listed().filter(pk__in=seen_keys(request, "row")))
    live = _live(request, table)
    table.rows = [check for check in table.rows if table.row_id(check) in live.news]
    return render(request, "components/live_rows.html", {"live": live, "table": table})


def _listed() -> BillCheckQuerySet:
    return BillCheck.objects.with_standing().select_related("order", "product__brand", "product__category")


def _live(request: StaffRequest, table: BillTable) -> Live:
    """Follow the checks that wait for the biller, and the payments that are under way."""
    parts, over = {}, set()
    for check in table.rows:
        parts[table.row_id(check)] = (check.now_standing, check.order.status if check.order else "")
        if check.now_standing not in {Standing.ASKING, Standing.PAYING}:
            over.add(table.row_id(check))
    return Live(request, reverse("bill_list_live"), parts, over=over)


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_detail(request: StaffRequest, ref_id: str) -> HttpResponse:
    """One bill; it follows the biller's answer, its own expiry and its payment by itself."""
    return render(request, "bills/bill_detail.html", _detail(request, ref_id))


@staff_only(Right.VIEW_BILLS)
@require_GET
def bill_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """When to ask next, and the bill if it is not as the page shows it."""
    return render(request, "bills/bill_detail.html#live", _detail(request, ref_id))


@staff_only(Right.VIEW_BILLS, Right.REVEAL_NUMBERS)
@require_http_methods(["GET", "POST"])
def bill_number(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The bill with its whole number, on this answer only; whoever does not see it anyway is noted."""
    if request.method != "POST":  # the address of such an answer, opened again
        return redirect("bill_detail", ref_id=ref_id)
    is_noted = not sees_whole_numbers()
    with whole_numbers():
        context = _detail(request, ref_id) | {"is_revealed": is_noted}
        if is_noted:
            record(Kind.FULL_NUMBER_SEEN, person=request.user, subject=ref_id)
        return render(request, "bills/bill_detail.html", context)


def _detail(request: StaffRequest, ref_id: str) -> dict[str, Any]:
    bills = ShownBill.read(BillCheck.objects.filter(ref_id=ref_id))
    if not bills:
        raise Http404
    return {
        "bill": bills[0],
        "may_reveal": not sees_whole_numbers() and request.user.has_perm(Right.REVEAL_NUMBERS),
        "live": follow(request, reverse("bill_live", args=[ref_id]), bills),
    }


def follow(request: StaffRequest, url: str, bills: list[ShownBill]) -> Live:
    """Follow what moves on these bills, their expiry, and what other people do with them."""
    soonest = min((bill.reads_again for bill in bills if bill.reads_again), default=None)
    parts = {bill.row_id: bill.version for bill in bills}
    over = {bill.row_id for bill in bills if not bill.is_moving}
    return Live(request, url, parts, over=over, rest=soonest, within=soonest)


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS)
@require_http_methods(["GET", "POST"])
def bill_pay(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Pay the total that was seen (`amount`), once, however often it is pressed.

    A payment that needs action is sent again.
    """
    check = get_object_or_404(BillCheck.objects.select_related("order"), ref_id=ref_id)
    if request.method != "POST":  # the address of a refused payment, opened again
        return redirect(check)
    form = PayForm(request.POST)
    if not form.is_valid():
        return redirect(check)
    amount, fee = form.cleaned_data["amount"], form.cleaned_data["fee"] or 0
    order = check.order
    try:
        paid = pay_seen(request, check, amount=amount, fee=fee)
    except NeedsApproval as need:
        return ask_and_show(request, need)
    except ActionRefused as refusal:
        # It still needs action: it says why. Otherwise somebody else pressed it, and the payment's page says the rest.
        if order and Order.objects.filter(pk=order.pk, status=Status.NEEDS_ACTION).exists():
            messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect(order or check)
    if not isinstance(paid, Order):
        return render(request, "bills/bill_detail.html", _detail(request, ref_id) | {"refusal": paid})
    return redirect(paid)


def pay_seen(request: StaffRequest, check: BillCheck, *, amount: int, fee: int) -> Order | dict[str, Any]:
    """Pay the total and fee that were seen, in rupiah; or why not, as `explained` says it, and nothing was paid.

    A payment that needs action is sent again. Raises `NeedsApproval` and `ActionRefused`.
    """
    order = check.order
    try:
        if order is not None and order.status == Status.NEEDS_ACTION:
            return services.pay_again(order, amount=amount, actor=request.user)
        payment = PaidByForm(request.POST).payment(amount + fee)
        return services.pay_bill(check, amount=amount, fee=fee, paid_by=request.user, payment=payment)
    except NeedsApproval:
        raise
    except OrderRefused as refusal:
        if isinstance(refusal, BalanceShort):
            request_balance_reading()  # a top-up of this minute is found sooner
        return explained(refusal, seen=amount, person=request.user)


def explained(refusal: OrderRefused, *, seen: int, person: User) -> dict[str, Any]:
    """A refused payment for the page: its code, its words and what to do, or where the next step leads.

    `seen`: rupiah, the total that was to be paid.
    """
    facts: dict[str, Any] = {"code": refusal.code, "words": refusal.words_for(person), "hint": _("Nothing was paid.")}
    match refusal:
        case TotalChanged():
            hint = _("Nothing was paid. Confirm the new total with the customer, then pay it.")
            return facts | {"hint": hint, "before": seen, "total": refusal.total}
        case FeeChanged():
            hint = _("Nothing was paid. Confirm the new fee with the customer, then pay it.")
            return facts | {"hint": hint}
        case BalanceShort():
            return facts | {
                "hint": _("Nothing was paid. It can be paid after a top-up, while the bill is still valid.")
            }
        case Replaced():
            return facts | {"ref_id": refusal.newer, "url": reverse("bill_detail", args=[refusal.newer])}
        case AlreadyPaid() | OpenDuplicate():
            return facts | {"ref_id": refusal.order.ref_id, "url": refusal.order.get_absolute_url()}
    return facts


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS)
@require_POST
def bill_ask(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Send the identical inquiry again: for a total that has changed, or an answer that never came."""
    check = get_object_or_404(BillCheck, ref_id=ref_id)
    try:
        inquiry = services.inquire_again(check, actor=request.user)
    except ActionRefused as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
    except UpstreamError:
        words = _("The bill could not be checked just now. Nothing has changed; try again.")
        messages.error(request, words, extra_tags="biller_not_asked")
    else:
        if inquiry is None or inquiry.answer == AnswerKind.NONE:
            messages.success(request, _("Checking the bill again."), extra_tags="asking_again")
        elif inquiry.answer == AnswerKind.REFUSAL:
            messages.error(request, str(meaning_of(inquiry.error_code).words), extra_tags=inquiry.error_code)
        elif inquiry.total == check.total:
            words = _("The total is still %(total)s.") % {"total": rupiah(check.total)}
            messages.success(request, words, extra_tags="total_unchanged")
    return redirect(check)


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS)
@require_POST
def bill_again(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Check the same bill again, with a new ref_id, and show that check."""
    check = get_object_or_404(BillCheck.objects.select_related("product__category"), ref_id=ref_id)
    with refusal_shown(request):
        check = services.start_check(
            product=check.product,
            destination=check.destination,
            checked_by=request.user,
            saved_number=check.saved_number,
        )
    return redirect(check)
