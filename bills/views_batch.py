"""All saved bills of a customer at once: check them, choose, review with a grand total, pay."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from backoffice.access import StaffRequest, staff_only
from bills import services
from bills.models import Answer, BillCheck
from bills.presenting import Funds, ShownBill, Step
from bills.views_bills import explained
from purchases.errors import OrderRefused
from purchases.models import Customer, Order, SavedNumber

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
        checks = list(
            BillCheck.objects.filter(batch=batch)
            .select_related("product__brand", "product__category", "saved_number__customer")
            .order_by("pk")
        )
        if not checks:
            raise Http404
        orders = {order.ref_id: order for order in Order.objects.filter(ref_id__in=[check.ref_id for check in checks])}
        return cls(id=batch, bills=[ShownBill(check=check, order=orders.get(check.ref_id)) for check in checks])

    @property
    def customer(self) -> Customer | None:
        """Whose bills they are, while that number is still saved."""
        return next((bill.check.saved_number.customer for bill in self.bills if bill.check.saved_number), None)

    @property
    def answered(self) -> int:
        """How many the billers have answered."""
        return sum(bill.check.answer != Answer.NONE for bill in self.bills)

    @property
    def is_asking(self) -> bool:
        """Whether a biller's answer is still waited for."""
        return any(bill.step is Step.WAIT for bill in self.bills)

    @property
    def payable(self) -> list[ShownBill]:
        """Those that can be paid now."""
        return [bill for bill in self.bills if bill.step is Step.PAY]

    @property
    def total(self) -> int:
        """Rupiah: what paying all that can be paid now would cost."""
        return sum(bill.check.total or 0 for bill in self.payable)

    @property
    def watched(self) -> str:
        """What the page asks about again: each bill that may still change, as it is shown."""
        return ",".join(f"{bill.check.pk}:{bill.version}" for bill in self.bills if bill.delay)

    @property
    def delay(self) -> int:
        """Seconds until the page asks again: as the most impatient of its bills."""
        return min((bill.delay for bill in self.bills if bill.delay), default=10)


@staff_only("bills.view_billcheck", "bills.check_bill", "purchases.view_customer")
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
        messages.error(request, _("None of this customer's bills can be checked just now."))
        return redirect(customer)
    if left := len(numbers) - count:
        words = ngettext(
            "%(n)s bill was left out: its biller is disturbed.",
            "%(n)s bills were left out: their billers are disturbed.",
            left,
        )
        messages.warning(request, words % {"n": left})
    return redirect("bill_batch", batch=batch)


@staff_only("bills.view_billcheck")
@require_GET
def batch_detail(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The bills of the batch with their progress; the payable ones can be chosen."""
    found = Batch.read(batch)
    refusals = request.session.get(_REFUSALS, {}).get(str(batch), {})
    return render(request, "bills/batch.html", {"batch": found, "rows": _rows(found.bills, refusals)})


@staff_only("bills.view_billcheck")
@require_GET
def batch_live(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The rows that have changed since they were shown (`watched`), the progress, and when to ask next."""
    found = Batch.read(batch)
    seen = dict(pair.partition(":")[::2] for pair in request.GET.get("watched", "").split(","))
    changed = [bill for bill in found.bills if str(bill.check.pk) in seen and seen[str(bill.check.pk)] != bill.version]
    refusals = request.session.get(_REFUSALS, {}).get(str(batch), {})
    return render(request, "bills/batch.html#live", {"batch": found, "rows": _rows(changed, refusals), "oob": True})


def _rows(bills: list[ShownBill], refusals: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"bill": bill, "refusal": refusals.get(bill.check.ref_id) if not bill.order else None} for bill in bills]


@staff_only("bills.view_billcheck", "bills.check_bill")
@require_GET
def batch_review(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """The chosen bills with their grand total and the balance after, to be confirmed once."""
    found = Batch.read(batch)
    wanted = set(request.GET.getlist("bill"))
    chosen = [bill for bill in found.payable if bill.check.ref_id in wanted]
    if not chosen:
        messages.error(request, _("Choose at least one bill that can be paid."))
        return redirect("bill_batch", batch=batch)
    total = sum(bill.check.total or 0 for bill in chosen)
    context = {
        "batch": found,
        "chosen": chosen,
        "left_out": len(wanted) - len(chosen),
        "total": total,
        "funds": Funds.for_paying(total),
        "first_expiry": min(chosen, key=lambda bill: bill.seconds_left),
    }
    return render(request, "bills/batch_review.html", context)


@staff_only("bills.view_billcheck", "bills.check_bill")
@require_POST
def batch_pay(request: StaffRequest, batch: uuid.UUID) -> HttpResponse:
    """Pay each chosen bill (`bill=REF_ID:TOTAL`) as an order of its own; one that is refused does not stop the rest."""
    found = Batch.read(batch)
    bills = {bill.check.ref_id: bill for bill in found.bills}
    new, known, refusals = 0, 0, {}
    for pair in request.POST.getlist("bill"):
        ref_id, _colon, seen = pair.partition(":")
        if ref_id not in bills or not (seen.isascii() and seen.isdecimal() and len(seen) < 16):
            continue
        try:
            _order, is_new = services.place_payment(bills[ref_id].check, amount=int(seen), paid_by=request.user)
        except OrderRefused as refusal:
            refusals[ref_id] = explained(refusal, seen=int(seen))
        else:
            new, known = new + is_new, known + (not is_new)
    # Only this batch's: what an earlier one was refused has been seen.
    request.session[_REFUSALS] = {str(batch): refusals}
    if new:
        words = ngettext("%(n)s payment placed.", "%(n)s payments placed.", new)
        messages.success(request, words % {"n": new})
    if known:
        words = ngettext(
            "%(n)s payment was placed already; nothing is paid twice.",
            "%(n)s payments were placed already; nothing is paid twice.",
            known,
        )
        messages.info(request, words % {"n": known})
    if refusals:
        words = ngettext(
            "%(n)s bill was not paid; see why below.",
            "%(n)s bills were not paid; see why below.",
            len(refusals),
        )
        messages.error(request, words % {"n": len(refusals)})
    return redirect("bill_batch", batch=batch)
