"""A bill at the counter: checked and paid in the panel, by the services of the bills."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from bills import services
from bills.errors import AlreadyPaid, FeeChanged, Replaced, TotalChanged
from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.states import AnswerKind, Standing
from catalogue.destinations import InvalidDestination
from catalogue.forms import DestinationForm
from catalogue.models import Product, ProductType
from catalogue.services import find_product
from core.access import StaffRequest, staff_only
from core.errors import OrderRefused
from core.forms import faults_of
from core.money import rupiah
from core.numbers import sees_whole_numbers
from core.rights import Right
from counter.forms import PayForm
from counter.presenting import in_fours
from counter.views.confirming import say_if_paid_otherwise
from counter.views.sending import ask_here, show_panel, show_sent
from customers.models import SavedNumber
from drawers.errors import SlipUsed
from drawers.forms import PaidByForm
from drawers.services import refuse_used_slip
from gateway.services import request_balance_reading
from purchases.errors import ActionRefused, BalanceShort, NeedsApproval, OpenDuplicate
from purchases.models import Order
from purchases.services import allowance_of, needs_approval
from purchases.states import Status
from staff.models import User
from upstream.error_codes import meaning_of
from upstream.errors import UpstreamError

#: People who check and pay bills at the counter.
MAY = (Right.VIEW_PRODUCT, Right.VIEW_BILLS, Right.CHECK_BILLS, Right.BUY)
_NOTHING_NEW = 204


@staff_only(*MAY)
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
    return _start(request, product, form.cleaned, saved, typed=form.cleaned)


@staff_only(*MAY)
@require_GET
def counter_bill(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The bill in the panel."""
    return _show(request, ref_id)


@staff_only(*MAY)
@require_GET
def counter_bill_now(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The biller's answer, when it has come; before that, once, a note that it takes long (`slow`: it is shown)."""
    bill = _read(request, ref_id)
    if bill.standing is Standing.ASKING and bill.is_slow == ("slow" in request.GET):
        return HttpResponse(status=_NOTHING_NEW)
    return render(request, "counter/bill.html", _facts(request, bill))


@staff_only(*MAY)
@require_http_methods(["GET", "POST"])
def counter_pay(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Pay the total that the panel shows, once for any number of presses.

    A payment that needs action is sent again.
    """
    check = get_object_or_404(BillCheck.objects.select_related("order"), ref_id=ref_id)
    form = PayForm(request.POST)
    if not form.is_valid():  # also the address of a refused payment, opened again
        return _shown(request, ref_id)
    try:
        paid = _pay_seen(request, check, amount=form.cleaned_data["amount"], fee=form.cleaned_data["fee"] or 0)
    except NeedsApproval as need:
        return ask_here(request, need)
    except ActionRefused as refusal:
        return _show(request, ref_id, faults=[str(refusal)])
    return show_sent(request, paid) if isinstance(paid, Order) else _show(request, ref_id, refusal=paid)


@staff_only(*MAY)
@require_POST
def counter_ask(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Send the identical inquiry again: for a changed total, or an answer that never came."""
    check = get_object_or_404(BillCheck, ref_id=ref_id)
    try:
        inquiry = services.inquire_again(check, actor=request.user)
    except ActionRefused as refusal:
        return _shown(request, ref_id, fault=str(refusal), code=refusal.code)
    except UpstreamError:
        words = _("The bill could not be checked just now. Nothing has changed; try again.")
        return _shown(request, ref_id, fault=words, code="biller_not_asked")
    if inquiry is None or inquiry.answer == AnswerKind.NONE:
        return _shown(request, ref_id, says=_("Checking the bill again."), code="asking_again")
    if inquiry.answer == AnswerKind.REFUSAL:
        return _shown(request, ref_id, fault=str(meaning_of(inquiry.error_code).words), code=inquiry.error_code)
    if inquiry.total == check.total:
        words = _("The total is still %(total)s.") % {"total": rupiah(check.total)}
        return _shown(request, ref_id, says=words, code="total_unchanged")
    return _shown(request, ref_id)


@staff_only(*MAY)
@require_POST
def counter_again(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Check the same bill again, with a new ref_id; not for an erased customer."""
    checks = BillCheck.objects.select_related("product__category", "saved_number").filter(number_erased=False)
    check = get_object_or_404(checks, ref_id=ref_id)
    typed = check.destination if sees_whole_numbers() else ""
    return _start(request, check.product, check.destination, check.saved_number, typed=typed)


def _start(
    request: StaffRequest, product: Product, destination: str, saved: SavedNumber | None, *, typed: str
) -> HttpResponse:
    """Check the bill. `typed`: what stands in the field if it cannot be checked."""
    try:
        check = services.start_check(
            product=product, destination=destination, checked_by=request.user, saved_number=saved
        )
    except (OrderRefused, InvalidDestination) as refusal:
        return show_panel(request, pinned="", q=typed, faults=[str(refusal)])
    return _shown(request, check.ref_id)


def _pay_seen(request: StaffRequest, check: BillCheck, *, amount: int, fee: int) -> Order | dict[str, Any]:
    """Pay the total and fee that were seen, in rupiah; return the order, or the refusal in the words of `explained`."""
    order = check.order
    try:
        if order is not None and order.status == Status.NEEDS_ACTION:
            if "unpaid" in request.POST:  # somebody has paid it since the page was shown
                services.refuse_colleagues(order, request.user)
            return services.pay_again(order, amount=amount, actor=request.user)
        payment = PaidByForm(request.POST).payment(amount + fee)
        own_key = services.key_of(check.ref_id)
        refuse_used_slip(payment, own_keys=[own_key], confirmed=request.POST.get("confirm_slip", ""))
        paid = services.pay_bill(check, amount=amount, fee=fee, paid_by=request.user, payment=payment)
        services.refuse_colleagues(paid, request.user)
        say_if_paid_otherwise(request, paid, payment)
        return paid
    except NeedsApproval:
        raise
    except OrderRefused as refusal:
        if isinstance(refusal, BalanceShort):
            request_balance_reading()  # a top-up of this minute is found sooner
        return explained(refusal, seen=amount, person=request.user)


def explained(refusal: OrderRefused, *, seen: int, person: User) -> dict[str, Any]:
    """A refused payment for the page: its code, its words and what to do, or the address of the next step.

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
            return facts | {"ref_id": refusal.newer, "url": reverse("counter_bill", args=[refusal.newer])}
        case SlipUsed():
            facts["slip"] = refusal.slip
        case AlreadyPaid() | OpenDuplicate():
            return facts | {"ref_id": refusal.order.ref_id, "url": refusal.order.get_absolute_url()}
    return facts


def _shown(request: StaffRequest, ref_id: str, *, says: str = "", fault: str = "", code: str = "") -> HttpResponse:
    """The bill, with the outcome of the person's request; without htmx by a redirect to its own address."""
    if request.headers.get("HX-Request"):
        return _show(request, ref_id, says=says, faults=[fault] if fault else [])
    if says:
        messages.success(request, says, extra_tags=code)
    if fault:
        messages.error(request, fault, extra_tags=code)
    return redirect("counter_bill", ref_id=ref_id)


def _show(request: StaffRequest, ref_id: str, **more: Any) -> HttpResponse:
    return show_panel(request, **_facts(request, _read(request, ref_id)), q="", pinned="", **more)


def _read(request: StaffRequest, ref_id: str) -> ShownBill:
    bills = ShownBill.read(BillCheck.objects.filter(ref_id=ref_id), request.user)
    if not bills:
        raise Http404
    return bills[0]


def _facts(request: StaffRequest, bill: ShownBill) -> dict[str, Any]:
    total = bill.check.total if bill.standing == "payable" else None
    is_beyond_limit = bool(total and allowance_of(request.user).refusal(total))
    is_above = bool(total) and needs_approval(request.user, cost=total or 0, price=bill.check.to_pay or 0)
    return {
        "bill": bill,
        "shown_number": in_fours(bill.destination),
        "is_beyond_limit": is_beyond_limit,  # the note of `funds_after` says it, and nobody can approve it
        "needs_approval": is_above and not is_beyond_limit,
    }
