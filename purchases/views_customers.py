"""Customers whom the shop knows by name: the list, one of them with the numbers, and what is offered while typing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from backoffice.access import StaffRequest, staff_only
from purchases.destinations import DestinationKind, kind_of, shown
from purchases.errors import InvalidDestination, NotPossible
from purchases.forms_customers import CustomerForm, SavedNumberForm, SaveThisForm
from purchases.models import Customer, Product, SavedNumber
from purchases.services.customers import customer_called, save_number, suggestions

ROWS = 50


def _typed(request: StaffRequest, name: str, length: int = 100) -> str:
    return request.GET.get(name, "").strip()[:length].replace("\0", "")  # PostgreSQL refuses a NUL


@staff_only("purchases.view_customer")
@require_GET
def customer_list(request: StaffRequest) -> HttpResponse:
    """Customers by name, found while typing by name, note or the beginning of a number."""
    text = _typed(request, "q")
    found = Customer.objects.annotate(
        count=Count("numbers", distinct=True),
        bills=Count("numbers", filter=Q(numbers__product__type="postpaid"), distinct=True),
    ).order_by("name", "pk")
    if text:
        by_number = SavedNumber.objects.matching(text).values("customer")
        found = found.filter(Q(name__icontains=text) | Q(note__icontains=text) | Q(pk__in=by_number))
    page = Paginator(found, ROWS).get_page(request.GET.get("page"))
    part = "#results" if request.headers.get("HX-Request") else ""
    return render(request, f"purchases/customer_list.html{part}", {"page": page, "text": text})


@staff_only("purchases.view_customer", "purchases.add_customer")
@require_http_methods(["GET", "POST"])
def customer_add(request: StaffRequest) -> HttpResponse:
    """A new customer; the numbers are added on the customer's page."""
    form = CustomerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.created_by = request.user
        return redirect(form.save())
    return render(request, "purchases/customer_form.html", {"form": form})


@staff_only("purchases.view_customer")
@require_GET
def customer_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One customer with all numbers."""
    customer = get_object_or_404(Customer, pk=pk)
    numbers = list(customer.numbers.select_related("product__brand", "product__category"))
    context = {
        "customer": customer,
        "rows": [_row(number) for number in numbers],
        "bill_count": sum(n.product is not None and n.product.type == "postpaid" for n in numbers),
    }
    return render(request, "purchases/customer_detail.html", context)


def _row(number: SavedNumber) -> dict[str, Any]:
    """A number for the page, and as the query string of a form that takes it."""
    player, _dot, zone = number.destination.partition(".")
    has_zone = number.kind == DestinationKind.GAME_ZONE
    typed = {"destination": player, "zone": zone} if has_zone else {"destination": number.destination}
    return {
        "number": number,
        "shown": shown(DestinationKind(number.kind), number.destination),
        "query": urlencode(typed),
    }


@staff_only("purchases.view_customer", "purchases.change_customer")
@require_http_methods(["GET", "POST"])
def customer_edit(request: StaffRequest, pk: int) -> HttpResponse:
    """Change the name or the note."""
    customer = get_object_or_404(Customer, pk=pk)
    form = CustomerForm(request.POST or None, instance=customer)
    if request.method == "POST" and form.is_valid():
        messages.success(request, _("Saved."))
        return redirect(form.save())
    return render(request, "purchases/customer_form.html", {"form": form, "customer": Customer.objects.get(pk=pk)})


@staff_only("purchases.view_customer", "purchases.delete_customer")
@require_http_methods(["GET", "POST"])
def customer_delete(request: StaffRequest, pk: int) -> HttpResponse:
    """Ask, then forget the customer with all numbers. Orders and bills stay."""
    customer = get_object_or_404(Customer.objects.annotate(count=Count("numbers")), pk=pk)
    if request.method == "POST":
        customer.delete()
        messages.success(request, _("%(name)s was deleted.") % {"name": customer.name})
        return redirect("customer_list")
    return render(request, "purchases/customer_delete.html", {"customer": customer})


@staff_only("purchases.view_customer", "purchases.change_customer")
@require_http_methods(["GET", "POST"])
def number_add(request: StaffRequest, pk: int) -> HttpResponse:
    """One more number of a customer."""
    number = SavedNumber(customer=get_object_or_404(Customer, pk=pk))
    form = SavedNumberForm(request.POST or None)
    return _number_form(request, number, form)


@staff_only("purchases.view_customer", "purchases.change_customer")
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
        return redirect(number.customer)
    return render(request, "purchases/number_form.html", {"form": form, "number": number, "customer": number.customer})


def _saved(form: SavedNumberForm, number: SavedNumber) -> bool:
    product, kind = form.chosen()
    try:
        save_number(
            number,
            destination=form.cleaned_data["destination"],
            zone=form.cleaned_data.get("zone", ""),
            product=product,
            kind=kind,
            note=form.cleaned_data["note"],
        )
    except (InvalidDestination, NotPossible) as refusal:
        form.add_error("destination", str(refusal))
        return False
    return True


@staff_only("purchases.view_customer", "purchases.change_customer")
@require_POST
def number_delete(request: StaffRequest, pk: int) -> HttpResponse:
    """Forget a number. Orders and bills stay."""
    number = get_object_or_404(SavedNumber.objects.select_related("customer"), pk=pk)
    number.delete()
    messages.success(request, _("Number deleted."))
    return redirect(number.customer)


@staff_only("purchases.view_customer", "purchases.add_customer", "purchases.change_customer")
@require_http_methods(["GET", "POST"])
def number_save(request: StaffRequest) -> HttpResponse:
    """Save the number of an order or a bill (`?product=CODE&destination=NO`) for a known or a new customer."""
    product = get_object_or_404(
        Product.objects.select_related("brand", "category"), code=request.GET.get("product", "")[:100].replace("\0", "")
    )
    typed = _typed(request, "destination", 64)
    player, _dot, zone = typed.partition(".")
    initial = {"destination": typed, "customer": _typed(request, "name", 120)}
    if kind_of(product) is DestinationKind.GAME_ZONE:
        initial |= {"destination": player, "zone": zone}
    form = SaveThisForm(request.POST or None, product=product, initial=initial)
    if request.method == "POST" and form.is_valid():
        customer, is_new = customer_called(form.cleaned_data["customer"], created_by=request.user)
        if _saved(form, SavedNumber(customer=customer)):
            words = _("Saved for the new customer %(name)s.") if is_new else _("Saved for %(name)s.")
            messages.success(request, words % {"name": customer.name})
            return redirect(customer)
        if is_new:
            customer.delete()
    context = {"form": form, "names": Customer.objects.values_list("name", flat=True)[:300]}
    return render(request, "purchases/number_form.html", context)


@staff_only("purchases.view_customer")
@require_GET
def number_suggest(request: StaffRequest, code: str) -> HttpResponse:
    """Saved numbers that fit the product, for what is being typed in the field for the number."""
    product = get_object_or_404(Product.objects.select_related("brand", "category"), code=code)
    text = _typed(request, "destination", 64)
    rows = [_row(number) for number in suggestions(product, text)] if len(text) >= 2 else []
    return render(request, "purchases/number_suggestions.html", {"rows": rows})
