"""The receipt for a payment of a debt: on paper, or as a text."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from branches.services import branch_to_show
from core.access import StaffRequest, staff_only
from core.numbers import sees_whole_numbers
from core.rights import Right
from credit.models import CreditEntry
from credit.presenting import whatsapp_to
from purchases.payment_receipts import PaymentPaper, payment_text
from purchases.receipt_printing import job_of
from purchases.receipts import Message
from purchases.views.receipts import chosen_paper
from shop.models import Paper
from shop.presenting import Letterhead
from shop.services import current_shop


@staff_only(Right.USE_CREDIT)
@require_GET
def credit_receipt(request: StaffRequest, pk: int) -> HttpResponse:
    """The receipt of this payment on the chosen paper (`?paper=`), for people who may take payments of debts."""
    payments = CreditEntry.objects.select_related("account__customer", "person", "undone_by")
    entry = get_object_or_404(payments, pk=pk, kind=CreditEntry.Kind.PAYMENT, undoes=None)
    shop = current_shop()
    head, paper = Letterhead.of(shop, branch_to_show(entry.person.branch_id)), chosen_paper(request, shop)
    sheet = PaymentPaper(head, paper, entry)
    text = payment_text(entry, head) if sees_whole_numbers() else ""
    context = {
        "entry": entry,
        "sheet": sheet,
        "papers": Paper.choices,
        "paper": paper.value,
        "job": job_of(request, [sheet]),
        "is_void": hasattr(entry, "undone_by"),
        "message": Message(text, whatsapp_to(entry.account, text)) if text else None,
    }
    return render(request, "purchases/payment_receipt.html", context)
