"""All saved bills of a customer at once: check them, choose, review with a grand total, pay."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from approvals.errors import AlreadyAsked
from bills import services
from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.states import BillState, Standing
from bills.views.bills import explained, follow
from core.access import StaffRequest, staff_only
from core.errors import OrderRefused
from core.rights import Right
from customers.models import Customer, SavedNumber
from drawers.forms import PaidByForm
from purchases.errors import NeedsApproval
from purchases.models import Order
from purchases.services import ask_for_approval, needs_approval

# Refused payments of a batch wait in the session until the page after the payment has shown them.
_REFUSALS = "bill_batch_refusals"


@dataclass(frozen=True)
class Batch:
    """The bills of a batch as they stand now."""

    id: uuid.UUID
    bills: list[ShownBill]

    @classmethod
    def read(cls, batch: uuid.UUID) -> Batch:
        """Read the batch, all checks and all payments at once; 404 when there is none."""
        bills = ShownBill.read(BillCheck.objects.filter(batch=batch).order_by("pk"))
        if not bills:
            raise Http404
        return cls(id=batch, bills=bills)

    @property
    def customer(self) -> Customer | None:
        """Whose bills they are, while that number is still saved."""
        return next((bill.check.saved_number.customer for bill in self.bills if bill.check.saved_number), None)

    @property
    def answered(self) -> int:
        """How many the billers have answered."""
        return sum(bill.state != BillState.PENDING for bill in self.bills)

    @property
    def is_asking(self) -> bool:
        """Whether a biller's answer is still waited for."""
        return any(bill.standing is Standing.ASKING for bill in self.bills)

    @property
    def payable(self) -> list[ShownBill]:
        """Those that can be paid now."""
        return [bill for bill in self.bills if bill.standing is Standing.PAYABLE and not bill.approval_id]

    @property
    def paid(self) -> list[ShownBill]:
        """Those that are paid, and so have a receipt."""
        return [bill for bill in self.bills if bill.standing is Standing.PAID]

    @property
    def total(self) -> int:
        """Rupiah: what the customer pays for all that can be paid now."""
        return sum(bill.check.to_pay or 0 for bill in self.payable)


@dataclass(frozen=True)
class Confirmed:
    """A bill of a batch with the total and the fee that were seen, in rupiah."""

    check: BillCheck
    seen: int
    fee: int

    @property
    def amount(self) -> int:
        """Rupiah: what the customer pays for it."""
        return self.seen + self.fee


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS, Right.VIEW_CUSTOMERS)
@require_POST
def batch_start(request: StaffRequest, pk: int) -> HttpResponse:
    """Check all saved bills of a customer in the background and follow them."""
    customer = get_object_or_404(Customer, pk=pk)
    numbers = list(
        SavedNumber.objects.bills().filter(customer=customer).select_related("product__brand", "product__category")
    )
    batch = services.start_checks(numbers, checked_by=request.user)
    count = BillCheck.objects.filter(batch=batch).count()
    if not count:
        words = _("None of this customer's bills can be checked just now.")
        messages.error(request, words, extra_tags="no_bill_checked")
        return redirect(customer)
    if left := len(numbers) - count:
        words = ngettext(
            "%(n)s bill was left out: its biller is unavailable.",
            "%(n)s bills were left out: their billers are unavailable.",
            left,
        )
        messages.warning(request, words % {"n": left}, extra_tags="bills_left_out")
    return redirect("bill_batch", batch=batch)


@staff_only(Right.VIEW_BILLS)
@require_GET
def batch_detail(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The bills of the batch with their progress; the payable ones can be chosen."""
    return render(request, "bills/batch.html", _followed(request, batch))


@staff_only(Right.VIEW_BILLS)
@require_GET
def batch_live(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The rows that have changed since they were shown, the progress, and when to ask next."""
    return render(request, "bills/batch.html#live", _followed(request, batch))


def _followed(request: StaffRequest, batch: uuid.UUID) -> dict[str, Any]:
    found = Batch.read(batch)
    live = follow(request, reverse("bill_batch_live", args=[batch]), found.bills)
    refusals = request.session.get(_REFUSALS, {}).get(str(batch), {})
    rows = [
        {"bill": bill, "refusal": refusals.get(bill.check.ref_id) if not bill.order else None}
        for bill in found.bills
        if bill.row_id in live.news
    ]
    return {"batch": found, "live": live, "rows": rows}


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS)
@require_GET
def batch_review(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The chosen bills with their grand total and the balance after, to be confirmed once."""
    return _review(request, Batch.read(batch), set(request.GET.getlist("bill")))


def _review(
    request: StaffRequest, found: Batch, wanted: set[str], *, refusal: OrderRefused | None = None
) -> HttpResponse:
    """The review of those of `wanted` (ref_ids) that can be paid. `refusal`: why nothing was placed."""
    chosen = [bill for bill in found.payable if bill.check.ref_id in wanted]
    if not chosen:
        messages.error(request, _("Choose at least one bill that can be paid."), extra_tags="no_bill_chosen")
        return redirect("bill_batch", batch=found.id)
    context = {
        "refusal": refusal,
        "batch": found,
        "chosen": chosen,
        "left_out": len(wanted) - len(chosen),
        "total": sum(bill.check.to_pay or 0 for bill in chosen),
        "cost": sum(bill.check.total or 0 for bill in chosen),
        "largest": max(bill.check.total or 0 for bill in chosen),
        "needs_approval": any(needs_approval(request.user, bill.check.total or 0) for bill in chosen),
        "first_expiry": min(chosen, key=lambda bill: bill.seconds_left),
    }
    return render(request, "bills/batch_review.html", context)


@staff_only(Right.VIEW_BILLS, Right.CHECK_BILLS)
@require_http_methods(["GET", "POST"])
def batch_pay(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """Pay each chosen bill (`bill=REF_ID:TOTAL:FEE`) as an order of its own; one refusal does not stop the rest.

    How the customer pays is said once for all of them. What is refused for all together, such as credit above the cap,
    places nothing.
    """
    if request.method != "POST":  # the address of a refused payment, opened again
        return redirect("bill_batch", batch=batch)
    found = Batch.read(batch)
    confirmed = list(_confirmed(request, found))
    together = sum(one.amount for one in confirmed if not one.check.order)
    try:
        payment = PaidByForm(request.POST).payment(together)
        if together:
            payment.refuse_unless_sold(together, seller=request.user)
    except OrderRefused as refusal:
        return _review(request, found, {one.check.ref_id for one in confirmed}, refusal=refusal)
    placed: list[Order] = []
    known, asked, refusals = 0, 0, {}
    change = 0 if payment.cash_given is None else payment.cash_given - together
    for one in confirmed:
        # Of the cash given just its own amount is for each; what goes back is noted with the first.
        paid = payment.part(one.amount, change=0 if placed else change)
        try:
            order, is_new = services.place_payment(
                one.check, amount=one.seen, fee=one.fee, paid_by=request.user, payment=paid
            )
        except NeedsApproval as need:
            with suppress(AlreadyAsked):  # somebody else did: it waits
                ask_for_approval(need, actor=request.user, reason=request.POST.get("reason", ""))
            asked += 1
        except OrderRefused as refusal:
            refusals[one.check.ref_id] = explained(refusal, seen=one.seen, person=request.user)
        else:
            placed += [order] if is_new else []
            known += not is_new
    # Only this batch's: what an earlier one was refused has been seen.
    request.session[_REFUSALS] = {str(batch): refusals}
    _say_what_came_of_it(request, new=len(placed), asked=asked, known=known, refused=len(refusals))
    return redirect("bill_batch", batch=batch)


def _say_what_came_of_it(request: StaffRequest, *, new: int, asked: int, known: int, refused: int) -> None:
    """How many payments were placed, wait for a second person, had been placed before, and were refused."""
    if new:
        words = ngettext("%(n)s payment placed.", "%(n)s payments placed.", new)
        messages.success(request, words % {"n": new}, extra_tags="payments_placed")
    if asked:
        words = ngettext(
            "%(n)s payment is above your limit: it waits for the approval of a second person.",
            "%(n)s payments are above your limit: they wait for the approval of a second person.",
            asked,
        )
        messages.info(request, words % {"n": asked}, extra_tags="waits_for_approval")
    if known:
        words = ngettext(
            "%(n)s payment was placed already; nothing is paid twice.",
            "%(n)s payments were placed already; nothing is paid twice.",
            known,
        )
        messages.info(request, words % {"n": known}, extra_tags="payments_placed_before")
    if refused:
        words = ngettext(
            "%(n)s bill was not paid; see why below.",
            "%(n)s bills were not paid; see why below.",
            refused,
        )
        messages.error(request, words % {"n": refused}, extra_tags="bills_not_paid")


def _confirmed(request: StaffRequest, found: Batch) -> Iterator[Confirmed]:
    checks = {bill.check.ref_id: bill.check for bill in found.bills}
    for pair in request.POST.getlist("bill"):
        ref_id, _colon, amounts = pair.partition(":")
        seen, _colon, fee = amounts.partition(":")
        fee = fee or "0"
        if ref_id in checks and _is_amount(seen) and _is_amount(fee):
            yield Confirmed(checks[ref_id], int(seen), int(fee))


def _is_amount(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16
