"""Customers whom the shop knows by name: the list, one customer with the numbers, and customers from a file."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from catalogue.destinations import InvalidDestination
from catalogue.models import Product
from core.access import StaffRequest, staff_only
from core.paging import FirstPages
from core.rights import Right
from core.sheets import SheetRefused
from customers.errors import AlreadySaved, MoneyOpen, NumbersChanged, SaleAgreed
from customers.forms import CustomerForm, ImportForm, SavedNumberForm, SaveThisForm
from customers.lists import CUSTOMERS
from customers.models import Customer, SavedNumber
from customers.presenting import shown_number
from customers.services import (
    MOST_KILOBYTES,
    MOST_ROWS,
    Outcome,
    change_customer,
    customer_called,
    erase,
    import_customers,
    one_new_customer_at_a_time,
    plan_import,
    save_number,
    seal_of_numbers,
    where_merged,
    why_kept,
)
from customers.tables import CustomerTable, ImportTable, NumberTable

ROWS = 50
# The page has at most this many rows; those that need a look come first.
_SHOWN = 200


@staff_only(Right.VIEW_CUSTOMERS)
@require_GET
def customer_list(request: StaffRequest) -> HttpResponse:
    """Customers by name, found while typing."""
    filtered = CUSTOMERS.found(request)
    page = FirstPages(filtered.qs.values_list("pk", flat=True), ROWS).get_page(request.GET.get("page"))
    # The numbers are counted for the page alone, not for the rows that it skips.
    shown = Customer.objects.with_counts().filter(pk__in=list(page)).order_by("name", "pk")
    table = CustomerTable(shown, columns=CUSTOMERS.columns(request.GET, request.user))
    return CUSTOMERS.show(request, {"filter": filtered, "page": page, "table": table, "as_you_type": True})


@staff_only(Right.VIEW_CUSTOMERS, Right.ADD_CUSTOMERS)
@require_http_methods(["GET", "POST"])
def customer_add(request: StaffRequest) -> HttpResponse:
    """A new customer; the numbers are added on the customer's page."""
    form = CustomerForm(request.POST or None, initial={"name": request.GET.get("name", "")[:120]})
    if request.method == "POST":
        with transaction.atomic():
            one_new_customer_at_a_time()
            if form.is_valid():
                form.instance.created_by = request.user
                return redirect(form.save())
    return render(request, "customers/customer_form.html", {"form": form})


@staff_only(Right.VIEW_CUSTOMERS)
@require_GET
def customer_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One customer with all numbers; a merged one leads to the customer who stayed."""
    stayed = Customer.objects.filter(pk=pk).first()
    customer = stayed or get_object_or_404(Customer, pk=where_merged([pk]).get(pk, pk))
    if customer.pk != pk:
        return redirect(customer)
    numbers = customer.numbers.in_seen_order().select_related("product__brand", "product__category")
    table = NumberTable(numbers, user=request.user)
    bill_count = sum(number.is_bill for number in table.rows)
    return render(
        request, "customers/customer_detail.html", {"customer": customer, "table": table, "bill_count": bill_count}
    )


@staff_only(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def customer_edit(request: StaffRequest, pk: int) -> HttpResponse:
    """Change the name or the note."""
    customer = get_object_or_404(Customer, pk=pk)
    form = CustomerForm(request.POST or None, instance=customer)
    if request.method == "POST" and form.is_valid():
        try:
            change_customer(form.instance)
        except Customer.DoesNotExist:  # a colleague has merged or deleted the customer meanwhile
            raise Http404 from None
        messages.success(request, _("Saved."))
        return redirect(form.instance)
    return render(request, "customers/customer_form.html", {"form": form, "customer": Customer.objects.get(pk=pk)})


@staff_only(Right.VIEW_CUSTOMERS, Right.DELETE_CUSTOMERS)
@require_http_methods(["GET", "POST"])
def customer_delete(request: StaffRequest, pk: int) -> HttpResponse:
    """Say what is deleted and what stays, and ask; then erase the customer. If it would be refused, say why instead."""
    customer = get_object_or_404(Customer.objects.annotate(count=Count("numbers")), pk=pk)
    if request.method == "POST":
        try:
            name = erase(pk, actor=request.user, seal=request.POST.get("seal", ""))
        except Customer.DoesNotExist:  # a colleague was faster
            raise Http404 from None
        except NumbersChanged as refusal:
            messages.error(request, str(refusal), extra_tags="numbers_changed")
            return redirect("customer_delete", pk=pk)
        except (MoneyOpen, SaleAgreed) as refusal:
            messages.error(request, str(refusal), extra_tags="customer_kept")
            return redirect(customer)
        messages.success(request, _("%(name)s was deleted.") % {"name": name})
        return redirect("customer_list")
    try:
        reason_kept = why_kept(pk)
    except Customer.DoesNotExist:
        raise Http404 from None
    context = {
        "customer": customer,
        "reason_kept": reason_kept,
        "is_money_open": isinstance(reason_kept, MoneyOpen),
        "seal": seal_of_numbers(pk),
        "numbers": [shown_number(number) for number in customer.numbers.order_by("pk")],
    }
    return render(request, "customers/customer_delete.html", context)


@staff_only(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS)
@require_http_methods(["GET", "POST"])
def number_add(request: StaffRequest, pk: int) -> HttpResponse:
    """One more number of a customer; of a merged customer, one of the customer who stayed."""
    number = SavedNumber(customer=get_object_or_404(Customer, pk=where_merged([pk]).get(pk, pk)))
    form = SavedNumberForm(request.POST or None)
    return _number_form(request, number, form)


@staff_only(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def number_edit(request: StaffRequest, pk: int) -> HttpResponse:
    """Change a number, what it is for, or its note."""
    number = get_object_or_404(
        SavedNumber.objects.select_related("customer", "product__brand", "product__category"), pk=pk
    )
    return _number_form(request, number, SavedNumberForm(request.POST or None, number=number))


def _number_form(request: StaffRequest, number: SavedNumber, form: SavedNumberForm) -> HttpResponse:
    if request.method == "POST" and form.is_valid() and _saved(form, number):
        messages.success(request, _("Number saved."))
        number.refresh_from_db(fields=["customer"])  # a merge meanwhile has given it to who stayed
        return redirect(number.customer)
    return render(request, "customers/number_form.html", {"form": form, "number": number, "customer": number.customer})


def _saved(form: SavedNumberForm, number: SavedNumber) -> bool:
    product, kind = form.chosen()
    try:
        save_number(
            number,
            destination=form.cleaned_data["destination"],
            product=product,
            kind=kind,
            note=form.cleaned_data["note"],
        )
    except (InvalidDestination, AlreadySaved) as refusal:
        form.add_error("destination", ValidationError(str(refusal), code=refusal.code))
        return False
    except (Customer.DoesNotExist, SavedNumber.DoesNotExist):
        raise Http404 from None
    return True


@staff_only(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS)
@require_POST
def number_delete(request: StaffRequest, pk: int) -> HttpResponse:
    """Forget a number. Orders and bills stay."""
    number = get_object_or_404(SavedNumber.objects.select_related("customer"), pk=pk)
    number.delete()
    messages.success(request, _("Number deleted."))
    return redirect(number.customer)


@staff_only(Right.VIEW_CUSTOMERS, Right.ADD_CUSTOMERS, Right.CHANGE_CUSTOMERS)
@require_http_methods(["GET", "POST"])
def number_save(request: StaffRequest) -> HttpResponse:
    """Save the number of an order or a bill (`?product=CODE&destination=NO`) for a known or a new customer."""
    product = get_object_or_404(
        Product.objects.select_related("brand", "category"), code=request.GET.get("product", "")[:100]
    )
    typed = request.GET.get("destination", "").strip()[:64]
    initial = {"destination": typed, "customer": request.GET.get("name", "").strip()[:120]}
    form = SaveThisForm(request.POST or None, product=product, initial=initial)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            customer, is_new = customer_called(form.cleaned_data["customer"], created_by=request.user)
            is_saved = _saved(form, SavedNumber(customer=customer))
            if not is_saved:  # a refused number leaves no new customer
                transaction.set_rollback(True)
        if is_saved:
            words = _("Saved for the new customer %(name)s.") if is_new else _("Saved for %(name)s.")
            messages.success(request, words % {"name": customer.name})
            return redirect(customer)
    context = {"form": form, "names": Customer.objects.values_list("name", flat=True)[:300]}
    return render(request, "customers/number_form.html", context)


@staff_only(Right.VIEW_CUSTOMERS, Right.IMPORT_CUSTOMERS, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def customer_import(request: StaffRequest) -> HttpResponse:
    """Read a table and show the effect of each row; with `save` save it."""
    form = ImportForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    context = {"form": form, "most": MOST_ROWS, "kilobytes": MOST_KILOBYTES}
    if request.method != "POST" or not form.is_valid():
        return render(request, "customers/import.html", context, status=422 if form.errors else 200)
    text = form.cleaned_data["text"]
    try:
        plan = import_customers(text, actor=request.user) if "save" in request.POST else plan_import(text)
    except SheetRefused as refusal:
        form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        return render(request, "customers/import.html", context, status=422)
    if "save" in request.POST:
        saved = len(plan.saved) - plan.overtaken
        words = ngettext("%(n)s row was saved.", "%(n)s rows were saved.", saved) % {"n": saved}
        messages.success(request, words, extra_tags="customers_imported")
        return redirect("customer_list")
    order = list(Outcome)
    rows = sorted(plan.rows, key=lambda row: (order.index(row.outcome), row.line))
    context |= {
        "counts": [(outcome, plan.counts[outcome]) for outcome in order if plan.counts[outcome]],
        "table": ImportTable(rows[:_SHOWN]),
        "all": len(rows),
        "saved": len(plan.saved),
        "unread": plan.unread,
        "text": text,
    }
    return render(request, "customers/import.html", context)
