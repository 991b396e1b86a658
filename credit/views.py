"""Customers' credit: one account, and the customers who owe money by age of the debt."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_POST

from audit.acts import act
from audit.services import record
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.numbers import sees_whole_numbers
from core.paging import FirstPages, keyset_page
from core.rights import Right
from credit import services
from credit.filters import AgeingFilter
from credit.forms import BroughtForm, CreditPaymentForm, CreditPayoutForm, TermsForm
from credit.models import CreditAccount, CreditEntry
from credit.presenting import age_badge, reminder_text, whatsapp_to
from credit.tables import AgeingTable, CreditEntryTable, file_fields
from customers.models import Customer
from exports.events import EXPORT_MADE
from exports.formats import csv_answer
from shop.services import current_shop
from staff.confirming import check_factor

SET_TERMS = act("credit_terms", pgettext_lazy("audit", "Change a customer's tab"), Right.MANAGE_CREDIT)
BRING_FORWARD = act("credit_brought", pgettext_lazy("audit", "Enter what was owed before"), Right.MANAGE_CREDIT)
_MOST_DEBTS = 50
_ROWS = 50
# The number of accounts of a file that are read in one statement.
_AT_ONCE = 500


@staff_only()
@require_GET
def credit_account(request: StaffRequest, pk: int) -> HttpResponse:
    """This customer's debts and their age, the entries, a payment, and the text of a reminder."""
    if not (request.user.has_perm(Right.USE_CREDIT) or request.user.has_perm(Right.VIEW_CREDIT)):
        raise PermissionDenied
    return show_account(request, _customer(pk))


def _customer(pk: int) -> Customer:
    return get_object_or_404(Customer.objects.select_related("credit"), pk=pk)


def show_account(
    request: StaffRequest,
    customer: Customer,
    *,
    terms: TermsForm | None = None,
    brought: BroughtForm | None = None,
    payment: CreditPaymentForm | None = None,
    payout: CreditPayoutForm | None = None,
) -> HttpResponse:
    """The page of the account; 422 with a refused form. A refused payment or payout is the only one on the page."""
    account: CreditAccount | None = getattr(customer, "credit", None)
    manages = request.user.has_perm(Right.MANAGE_CREDIT)
    context: dict[str, Any] = {"customer": customer, "account": account}
    if account:
        entries = account.entries.select_related("person", "undone_by", "drawer_entry__shift__drawer")
        page = keyset_page(entries, request.GET, time_field="at", size=50)
        debts = services.debts_of(account)
        unfulfilled = services.unfulfilled_sales(account)
        asked = services.still_owed(account, debts, unfulfilled)
        undoable = _undoable(request, account, page.rows)
        context |= {
            "page": page,
            "table": CreditEntryTable(page.rows, user=request.user, undoable=undoable, unfulfilled=unfulfilled),
            "debts": debts[:_MOST_DEBTS],
            "last_payment": _last_payment(request, page.rows),
            "unfulfilled": unfulfilled,
            "to_take_off": _to_take_off(account, unfulfilled),
            "badge": age_badge(account),
            "payment": payment or (None if payout else _payment_form(request, account)),
            "payout": payout or (None if payment else _payout_form(request, account)),
        }
        if asked:
            account.customer = customer
            text = reminder_text(account, asked, current_shop())
            context["reminder"] = text
            context["whatsapp"] = whatsapp_to(account, text) if sees_whole_numbers() else ""
    if manages:
        initial = {"cap": account.cap, "due_days": account.due_days, "due_on": account.due_on} if account else {}
        context["terms"] = terms or TermsForm(initial=initial, auto_id="terms-%s")
        context["brought"] = brought or BroughtForm(auto_id="brought-%s")
    is_faulty = bool(terms or brought or payment or payout)
    return render(request, "credit/account.html", context, status=422 if is_faulty else 200)


def _to_take_off(account: CreditAccount, unfulfilled: Mapping[str, int]) -> int:
    """Rupiah for orders that did not go through: as much as is still owed, or all if the customer owes nothing."""
    amount = sum(unfulfilled.values())
    return min(amount, account.balance) if account.balance > 0 else amount


def _payment_form(request: StaffRequest, account: CreditAccount) -> CreditPaymentForm | None:
    is_offered = account.balance > 0 and request.user.has_perm(Right.USE_CREDIT)
    return CreditPaymentForm() if is_offered else None


def _payout_form(request: StaffRequest, account: CreditAccount) -> CreditPayoutForm | None:
    is_offered = account.balance < 0 and request.user.has_perms((Right.USE_CREDIT, Right.GIVE_BACK))
    return CreditPayoutForm(initial={"amount": account.size}) if is_offered else None


def _last_payment(request: StaffRequest, entries: list[CreditEntry]) -> CreditEntry | None:
    """The payment at the top of the shown entries; its receipt is most likely wanted now."""
    newest = entries[0] if entries and request.user.has_perm(Right.USE_CREDIT) else None
    return newest if newest and newest.kind == CreditEntry.Kind.PAYMENT and not newest.undoes_id else None


def _undoable(request: StaffRequest, account: CreditAccount, entries: list[CreditEntry]) -> set[int]:
    """The payments among these that this person may undo."""
    manages = request.user.has_perm(Right.MANAGE_CREDIT)
    final = services.last_paid_back(account)
    return {
        entry.pk
        for entry in entries
        if entry.kind == CreditEntry.Kind.PAYMENT
        and not entry.undoes_id
        and entry.pk > final
        and not hasattr(entry, "undone_by")
        and (manages or (entry.person_id == request.user.pk and request.user.has_perm(Right.USE_CREDIT)))
        and (not hasattr(entry, "drawer_entry") or entry.drawer_entry.may_be_undone_by(request.user))
    }


@staff_only(Right.MANAGE_CREDIT)
@require_POST
def credit_terms(request: StaffRequest, pk: int) -> HttpResponse:
    """Give this customer credit, or change its cap and due date. It takes a second factor."""
    customer = _customer(pk)
    form = TermsForm(request.POST, auto_id="terms-%s")
    if not form.is_valid():
        return show_account(request, customer, terms=form)
    with refusal_shown(request):
        check_factor(request, act=SET_TERMS, content=_typed(request, pk, form))
        services.set_credit(customer, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Saved."), extra_tags="credit_saved")
    return redirect("credit_account", pk=pk)


@staff_only(Right.MANAGE_CREDIT)
@require_POST
def credit_brought(request: StaffRequest, pk: int) -> HttpResponse:
    """Enter this customer's debt from before the account began. It takes a second factor."""
    account = get_object_or_404(CreditAccount.objects.select_related("customer"), customer=pk)
    form = BroughtForm(request.POST, auto_id="brought-%s")
    if not form.is_valid():
        return show_account(request, _customer(pk), brought=form)
    with refusal_shown(request):
        check_factor(request, act=BRING_FORWARD, content=_typed(request, pk, form))
        services.bring_forward(account, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Entered."), extra_tags="brought_forward")
    return redirect("credit_account", pk=pk)


def _typed(request: StaffRequest, pk: int, form: Form) -> dict[str, object]:
    """The content that the second factor confirms: the customer, and each field as it was typed."""
    return {"customer": pk, **{name: request.POST.get(name, "") for name in form.fields}}


def _with_names(keys: list[int]) -> QuerySet[CreditAccount]:
    return CreditAccount.objects.filter(pk__in=keys).select_related("customer").order_by("oldest_due", "pk")


@staff_only(Right.VIEW_CREDIT)
@require_GET
def credit_list(request: StaffRequest) -> HttpResponse:
    """Accounts with a debt, the oldest debt first, by age."""
    filtered = AgeingFilter.of(request.GET)
    page = FirstPages(filtered.qs.values_list("pk", flat=True), _ROWS).get_page(request.GET.get("page"))
    table = AgeingTable(_with_names(list(page)))
    owed, count = services.owed_in_all(filtered.qs)
    context = {"filter": filtered, "page": page, "table": table, "owed": owed, "count": count}
    return render(request, "credit/credit_list.html", context)


@staff_only(Right.VIEW_CREDIT)
@require_GET
def credit_csv(request: StaffRequest) -> HttpResponseBase:
    """The same list as a CSV file, up to the first ten thousand accounts."""
    keys = list(AgeingFilter.of(request.GET).qs.values_list("pk", flat=True)[: FirstPages.MOST])
    record(EXPORT_MADE, actor=request.user, subject="credit", facts={"format": "csv", "rows": len(keys)})
    not_to_ask: dict[int, int] = {}
    for start in range(0, len(keys), _AT_ONCE):
        not_to_ask |= services.not_to_ask_for(keys[start : start + _AT_ONCE])
    fields = file_fields(services.aged(keys), not_to_ask)
    return csv_answer(_with_names(keys), fields, f"credit-{timezone.localdate()}.csv")
