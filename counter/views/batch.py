"""All saved bills of a customer at once: check them, choose, review with a grand total, pay."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from bills import services
from bills.models import BillCheck
from bills.presenting import ShownBill
from bills.services import SeenBill
from bills.states import BillState, Standing
from bills.views.bills import follow
from core.access import StaffRequest, staff_only
from core.errors import OrderRefused
from core.keys import typed_keys
from core.money import rupiah
from core.rights import Right
from counter.views.bills import MAY, explained
from counter.views.confirming import say_if_paid_otherwise
from counter.views.sending import elsewhere, open_for_sale, show_panel
from customers.models import Customer, SavedNumber, SavedNumberQuerySet
from drawers.forms import PaidByForm
from drawers.presenting.sales import change_in_coins
from drawers.services import refuse_used_slip
from gateway.services import request_balance_reading
from purchases.errors import BalanceShort
from purchases.services import needs_approval
from staff.models import User

# Refused payments of a batch wait in the session until the page after the payment has shown them.
_REFUSALS = "bill_batch_refusals"
# As many as a page of bills due has.
_MOST_AT_ONCE = 50


@dataclass(frozen=True)
class Batch:
    """The bills of a batch as they stand now."""

    id: uuid.UUID
    bills: list[ShownBill]

    @classmethod
    def read(cls, batch: uuid.UUID, person: User) -> Batch:
        """Read the batch, all checks and all payments at once; 404 for an unknown one."""
        bills = ShownBill.read(BillCheck.objects.filter(batch=batch).order_by("pk"), person)
        if not bills:
            raise Http404
        return cls(id=batch, bills=bills)

    @property
    def customer(self) -> Customer | None:
        """The customer of all these bills, if there is one and a number is still saved."""
        customers = {bill.check.saved_number.customer for bill in self.bills if bill.check.saved_number}
        return customers.pop() if len(customers) == 1 else None

    @property
    def answered(self) -> int:
        """The number of bills that the billers have answered."""
        return sum(bill.state != BillState.PENDING for bill in self.bills)

    @property
    def is_asking(self) -> bool:
        """Whether a biller has not answered yet."""
        return any(bill.standing is Standing.ASKING for bill in self.bills)

    @property
    def payable(self) -> list[ShownBill]:
        """The bills that can be paid now."""
        return [bill for bill in self.bills if bill.standing is Standing.PAYABLE and not bill.approval_id]

    @property
    def paid(self) -> list[ShownBill]:
        """The paid bills, which have a receipt."""
        return [bill for bill in self.bills if bill.standing is Standing.PAID]

    @property
    def paid_sum(self) -> int:
        """Rupiah of the paid bills, with the shop's fees."""
        return sum(bill.check.to_pay or 0 for bill in self.paid)

    @property
    def left(self) -> list[ShownBill]:
        """The bills that the customer could pay now and has not, and those that wait for a second person."""
        open_bills = [bill for bill in self.bills if not bill.order]
        return [bill for bill in open_bills if bill.approval_id or bill.standing is Standing.PAYABLE]

    @property
    def may_end(self) -> bool:
        """Whether the next customer may come: some bills were handled, or none can be."""
        has_begun = any(bill.order or bill.approval_id for bill in self.bills)
        return has_begun or not (self.payable or self.is_asking)

    @property
    def is_done(self) -> bool:
        """Whether somebody has paid every one of them, or is about to."""
        return all(bill.order for bill in self.bills)

    @property
    def change(self) -> int:
        """Rupiah that the customer got back, in coins, when they were paid together."""
        return change_in_coins(sum(bill.order.payment.change or 0 for bill in self.bills if bill.order))


@staff_only(*MAY, Right.VIEW_CUSTOMERS)
@require_POST
def batch_start(request: StaffRequest, pk: int) -> HttpResponse:
    """Check all saved bills of a customer in the background and follow them."""
    customer = get_object_or_404(Customer, pk=pk)
    return _start(request, SavedNumber.objects.bills().filter(customer=customer), back=customer.get_absolute_url())


@staff_only(*MAY, Right.VIEW_CUSTOMERS)
@require_POST
def batch_of_due(request: StaffRequest) -> HttpResponse:
    """Check the ticked bills of the list of bills due (`number`, keys of saved numbers), and follow them."""
    ticked = typed_keys(request.POST.getlist("number")[:_MOST_AT_ONCE])
    back = reverse("due_list")
    if not ticked:
        messages.error(request, _("Tick at least one bill."), extra_tags="no_bill_ticked")
        return redirect(back)
    return _start(request, SavedNumber.objects.bills().filter(pk__in=ticked), back=back)


def _start(request: StaffRequest, saved: SavedNumberQuerySet, *, back: str) -> HttpResponse:
    numbers = list(saved.in_seen_order().select_related("product__brand", "product__category"))
    batch = services.start_checks(numbers, checked_by=request.user)
    count = BillCheck.objects.filter(batch=batch).count()
    if not count:
        messages.error(request, _("None of these bills can be checked just now."), extra_tags="no_bill_checked")
        return redirect(back)
    if left := len(numbers) - count:
        words = ngettext(
            "%(n)s bill was left out: its biller is unavailable, or does not take its number.",
            "%(n)s bills were left out: their billers are unavailable, or do not take their numbers.",
            left,
        )
        messages.warning(request, words % {"n": left}, extra_tags="bills_left_out")
    return redirect("counter_batch", batch=batch)


@staff_only(Right.VIEW_BILLS)
@require_GET
def batch_detail(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The bills of the batch with their progress; the payable ones can be chosen."""
    return render(request, "counter/batch.html", _followed(request, batch))


@staff_only(Right.VIEW_BILLS)
@require_GET
def batch_live(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The rows that have changed since they were shown, the progress, and the time of the next poll."""
    return render(request, "counter/batch.html#live", _followed(request, batch))


def _followed(request: StaffRequest, batch: uuid.UUID) -> dict[str, Any]:
    """The batch for its page. `without` in the address: the bills that the person has left out before."""
    bills_together = Batch.read(batch, request.user)
    payable = {bill.check.ref_id for bill in bills_together.payable}
    left_out = [ref_id for ref_id in request.GET.getlist("without")[:_MOST_AT_ONCE] if ref_id in payable]
    kept = f"?{urlencode({'without': left_out}, doseq=True)}" if left_out else ""
    live = follow(request, reverse("counter_batch_live", args=[batch]) + kept, bills_together.bills)
    refusals = request.session.get(_REFUSALS, {}).get(str(batch), {})
    rows = [
        {
            "bill": bill,
            "refusal": refusals.get(bill.check.ref_id) if not bill.order else None,
            "is_left_out": bill.check.ref_id in left_out,
        }
        for bill in bills_together.bills
        if bill.row_id in live.news
    ]
    return {
        "batch": bills_together,
        "total": sum(bill.check.to_pay or 0 for bill in bills_together.payable if bill.check.ref_id not in left_out),
        "live": live,
        "rows": rows,
        "may_pay": request.user.has_perms(MAY),
    }


@staff_only(*MAY)
@require_GET
def batch_review(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The chosen bills with their grand total and the balance after, to be confirmed once."""
    return _review(request, Batch.read(batch, request.user), set(request.GET.getlist("bill")))


def _review(
    request: StaffRequest, bills_together: Batch, wanted: set[str], *, refusal: OrderRefused | None = None
) -> HttpResponse:
    """The review of the payable bills among `wanted` (ref_ids). `refusal`: why nothing was placed."""
    chosen = [bill for bill in bills_together.payable if bill.check.ref_id in wanted]
    if not chosen:
        messages.error(request, _("Choose at least one bill that can be paid."), extra_tags="no_bill_chosen")
        return elsewhere(request, redirect("counter_batch", batch=bills_together.id))
    above = [
        bill
        for bill in chosen
        if needs_approval(request.user, cost=bill.check.total or 0, price=bill.check.to_pay or 0)
    ]
    return show_panel(
        request,
        q="",
        pinned="",
        batch=bills_together,
        chosen=chosen,
        refusal=refusal,
        left_out=len(wanted) - len(chosen),
        without=[bill.check.ref_id for bill in bills_together.payable if bill not in chosen],
        total=sum(bill.check.to_pay or 0 for bill in chosen),
        owner=_owner_of(chosen),
        cost=sum(bill.check.total or 0 for bill in chosen),
        largest=max(bill.check.total or 0 for bill in chosen),
        needs_approval=bool(above),
        asks_for=sum(bill.check.to_pay or 0 for bill in above),
        pays_now=sum(bill.check.to_pay or 0 for bill in chosen if bill not in above),
        is_only_asked=len(above) == len(chosen),
        first_expiry=min(chosen, key=lambda bill: bill.seconds_left),
    )


def _owner_of(chosen: list[ShownBill]) -> int | None:
    """The key of the customer whose bills all of these are; None for several customers: nobody owes another's bill."""
    owners = {bill.check.saved_number.customer_id if bill.check.saved_number else None for bill in chosen}
    return owners.pop() if len(owners) == 1 else None


@staff_only(*MAY)
@require_http_methods(["GET", "POST"])
def batch_pay(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """Pay each chosen bill (`bill=REF_ID:TOTAL:FEE`) as an order of its own; one refusal does not stop the rest.

    One payment counts for all of them. A refusal for all together, such as credit above the cap, places nothing.
    """
    if request.method != "POST":  # the address of a refused payment, opened again
        return redirect("counter_batch", batch=batch)
    bills_together = Batch.read(batch, request.user)
    seen = _seen(request, bills_together)
    try:
        payment = PaidByForm(request.POST).payment(sum(bill.amount for bill in seen.values() if not bill.check.order))
        own_keys = [services.key_of(ref_id) for ref_id in seen]
        refuse_used_slip(payment, own_keys=own_keys, confirmed=request.POST.get("confirm_slip", ""))
        came = services.pay_together(
            list(seen.values()), paid_by=request.user, payment=payment, reason=request.POST.get("reason", "")
        )
    except OrderRefused as refusal:
        return _review(request, bills_together, set(seen), refusal=refusal)
    if any(isinstance(refusal, BalanceShort) for refusal in came.refusals.values()):
        request_balance_reading()  # a top-up of this minute is found sooner
    # Only the payments of this batch: the person has seen the earlier ones.
    request.session[_REFUSALS] = {
        str(batch): {
            ref_id: explained(refusal, seen=seen[ref_id].total, person=request.user)
            for ref_id, refusal in came.refusals.items()
        }
    }
    _say_what_came_of_it(
        request, new=len(came.placed), asked=came.asked, known=len(came.known), refused=len(came.refusals)
    )
    for order in came.known:
        if order.placed_by_id == request.user.pk:
            say_if_paid_otherwise(request, order, payment)
    if came.placed:
        open_for_sale(request, came.placed[0])  # all are paid in one way
    if change := change_in_coins(came.change):
        messages.info(request, _("Change: %(amount)s") % {"amount": rupiah(change)}, extra_tags="change")
    return elsewhere(request, redirect("counter_batch", batch=batch))


def _say_what_came_of_it(request: StaffRequest, *, new: int, asked: int, known: int, refused: int) -> None:
    """Say how many payments were placed, wait for a second person, had been placed before, and were refused."""
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


def _seen(request: StaffRequest, bills_together: Batch) -> dict[str, SeenBill]:
    """The bills of the batch that the form names, each once, by ref_id."""
    checks = {bill.check.ref_id: bill.check for bill in bills_together.bills}
    seen = {}
    for posted in request.POST.getlist("bill"):
        ref_id, _colon, amounts = posted.partition(":")
        total, _colon, fee = amounts.partition(":")
        fee = fee or "0"
        if ref_id in checks and _is_amount(total) and _is_amount(fee):
            seen[ref_id] = SeenBill(checks[ref_id], int(total), int(fee))
    return seen


def _is_amount(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16
