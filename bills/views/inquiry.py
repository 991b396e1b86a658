"""Checking a bill: choose the biller, type the customer number."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods
from django_htmx.http import replace_url

from bills import services
from bills.errors import NotABill
from catalogue.destinations import InvalidDestination
from catalogue.filters import ProductChoice
from catalogue.forms import DestinationForm
from catalogue.models import Product, ProductType
from catalogue.services import read_products
from core.access import StaffRequest, staff_only
from core.numbers import sees_whole_numbers
from core.rights import Right
from customers.models import SavedNumber

SAVED_SHOWN = 6


@staff_only(Right.CHECK_BILLS)
@require_GET
def biller_list(request: StaffRequest) -> HttpResponse:
    """The billers by category, found while typing; a saved customer's name or number finds their bills."""
    choice = ProductChoice(request.GET)
    found = choice.find(kind=ProductType.POSTPAID)
    context = {
        "choice": choice.chosen,
        "categories": [one for one in found.busy_categories if one.type == ProductType.POSTPAID],
        "billers": _by_category(read_products(found.keys)),
        "saved": _saved(request, choice.chosen["q"] or choice.chosen["destination"]),
        "is_filtered": bool(choice.chosen["q"] or choice.chosen["category"]),
    }
    if not request.headers.get("HX-Request"):
        return render(request, "bills/biller_list.html", context)
    results = render(request, "bills/biller_list.html#results", context)
    return replace_url(results, choice.url(reverse("biller_list")))


def _by_category(billers: list[Product]) -> list[Product]:
    """The billers in their order, category by category: first the category of the best."""
    place = {category: at for at, category in enumerate(dict.fromkeys(biller.category_id for biller in billers))}
    return sorted(billers, key=lambda biller: place[biller.category_id])


def _saved(request: StaffRequest, text: str) -> list[SavedNumber]:
    """Saved bills for what is typed, if the person may see customers and their numbers."""
    if len(text) < 2 or not (request.user.has_perm(Right.VIEW_CUSTOMERS) and sees_whole_numbers()):
        return []
    return list(
        SavedNumber.objects.bills()
        .matching(text)
        .select_related("customer", "product__brand", "product__category")[:SAVED_SHOWN]
    )


@staff_only(Right.CHECK_BILLS)
@require_http_methods(["GET", "POST"])
def bill_check(request: StaffRequest, code: str) -> HttpResponse:
    """Ask for the customer number (GET), start the check and go to its page (POST)."""
    product = get_object_or_404(
        Product.objects.select_related("brand", "category", "health"), code=code, type=ProductType.POSTPAID
    )
    if request.method != "POST":
        return _ask(request, product, DestinationForm(product=product, initial=_typed_before(request)))
    form = DestinationForm(request.POST, product=product)
    if not form.is_valid():
        return _ask(request, product, form)
    saved = SavedNumber.objects.filter(product=product, destination=form.cleaned).first()
    try:
        check = services.start_check(
            product=product, destination=form.cleaned, checked_by=request.user, saved_number=saved
        )
    except InvalidDestination as refusal:
        form.add_error("destination", ValidationError(str(refusal), code="invalid"))
        return _ask(request, product, form)
    except NotABill as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect("bill_check", code=product.code)
    return redirect(check)


def _typed_before(request: StaffRequest) -> dict[str, str]:
    return {"destination": request.GET.get("destination", "")[:64]}


def _ask(request: StaffRequest, product: Product, form: DestinationForm) -> HttpResponse:
    context = {
        "product": product,
        "form": form,
        "refusal": services.why_no_check(product),
        "closed": product.in_cut_off(),
    }
    return render(request, "bills/bill_check.html", context)
