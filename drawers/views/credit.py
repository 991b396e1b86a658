"""Takes a customer's payment of a debt, undoes a wrong entry, and pays out money that the shop owes."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.forms import SumForm
from core.money import rupiah
from core.rights import Right
from credit.forms import CreditPaymentForm, CreditPayoutForm, ReasonForm
from credit.methods import counts_as_cash
from credit.models import CreditEntry
from credit.views import show_account
from customers.models import Customer
from drawers import services
from drawers.errors import TooLittleCash
from tills.printing import open_cash_drawer


@staff_only(Right.USE_CREDIT)
@require_POST
def credit_paid(request: StaffRequest, pk: int) -> HttpResponse:
    """Note a customer's payment of a debt; cash goes into the taker's open drawer."""
    customer = get_object_or_404(Customer.objects.select_related("credit"), pk=pk, credit__isnull=False)
    form = CreditPaymentForm(request.POST)
    if not form.is_valid():
        return show_account(request, customer, payment=form)
    try:
        paid = services.take_credit_payment(customer.credit, actor=request.user, **form.cleaned_data)
    except Refused as refusal:
        customer.credit.refresh_from_db()
        if customer.credit.balance > 0 and _is_beside_field(form, refusal, reference="note"):
            return show_account(request, customer, payment=form)
        messages.error(request, str(refusal), extra_tags=refusal.code)
    else:
        if counts_as_cash(form.cleaned_data["method"]):
            open_cash_drawer(request, "credit", paid.pk)
        facts = {"amount": rupiah(form.cleaned_data["amount"]), "name": customer.name}
        messages.success(request, _("%(amount)s of %(name)s is entered.") % facts, extra_tags="credit_paid")
    return redirect("credit_account", pk=pk)


def _is_beside_field(form: SumForm, refusal: Refused, *, reference: str) -> bool:
    """Put the refusal beside the field that it is about, if one is; `reference`: the field of the number on a slip."""
    fields = {"no_shift": "method", "no_reference": reference, "more_than_owed": "amount", "more_than_kept": "amount"}
    name = "amount" if isinstance(refusal, TooLittleCash) else fields.get(refusal.reason)
    if name:
        form.add_error(name, ValidationError(str(refusal), code=refusal.code))
    return name is not None


@staff_only(Right.USE_CREDIT, Right.GIVE_BACK)
@require_POST
def credit_paid_out(request: StaffRequest, pk: int) -> HttpResponse:
    """Note a payout to a customer; cash comes out of the person's own open drawer."""
    customer = get_object_or_404(Customer.objects.select_related("credit"), pk=pk, credit__isnull=False)
    form = CreditPayoutForm(request.POST)
    if not form.is_valid():
        return show_account(request, customer, payout=form)
    try:
        paid = services.pay_out_credit(customer.credit, actor=request.user, **form.cleaned_data)
    except Refused as refusal:
        customer.credit.refresh_from_db()
        if customer.credit.balance < 0 and _is_beside_field(form, refusal, reference="reason"):
            return show_account(request, customer, payout=form)
        messages.error(request, str(refusal), extra_tags=refusal.code)
    else:
        if counts_as_cash(form.cleaned_data["method"]):
            open_cash_drawer(request, "credit_out", paid.pk)
        words = _("Entered: %(amount)s paid out to the customer.") % {"amount": rupiah(form.cleaned_data["amount"])}
        messages.success(request, words, extra_tags="credit_paid_out")
    return redirect("credit_account", pk=pk)


@staff_only(Right.USE_CREDIT)
@require_http_methods(["GET", "POST"])
def credit_undo(request: StaffRequest, pk: int) -> HttpResponse:
    """Ask for the reason, then undo a wrongly entered payment."""
    payments = CreditEntry.objects.select_related("account__customer", "person")
    payment = get_object_or_404(payments, pk=pk, kind=CreditEntry.Kind.PAYMENT, undoes=None)
    customer = payment.account.customer
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            undoing = services.undo_credit_payment(payment, actor=request.user, reason=form.cleaned_data["reason"])
        except Refused as refusal:
            form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _undone(undoing.balance_after), extra_tags="credit_undone")
            return redirect("credit_account", pk=customer.pk) if customer else redirect("drawer")
    context = {"payment": payment, "customer": customer, "form": form}
    return render(request, "drawers/credit_undo.html", context)


def _undone(owed: int) -> str:
    """The debt afterwards; rupiah, below zero if the shop owes the customer."""
    if owed > 0:
        return _("The payment is undone. The customer now owes %(amount)s.") % {"amount": rupiah(owed)}
    if owed == 0:
        return _("The payment is undone. The customer owes nothing now.")
    return _("The payment is undone. The shop now owes the customer %(amount)s.") % {"amount": rupiah(-owed)}
