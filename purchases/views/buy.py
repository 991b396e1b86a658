"""Buying one product: type the destination, review, confirm. Nothing is stored before the confirmation."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from catalogue.destinations import InvalidDestination
from catalogue.forms import DestinationForm
from catalogue.models import Product, ProductType
from catalogue.services import find_product
from core.access import StaffRequest, staff_only
from core.rights import Right
from purchases.errors import NeedsApproval, NotForSale
from purchases.models import Order
from purchases.presenting import limits_shown
from purchases.states import Status
from purchases.views.approving import ask_and_show
from purchases.views.confirming import place_confirmed, recognised, repeats, review_facts


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_http_methods(["GET", "POST"])
def product_buy(request: StaffRequest, code: str) -> HttpResponse:
    """Ask for the destination, show the review (`review` in the address), place the order (POST).

    The review has an address, so that the browser's Back after a purchase shows it again, with what is open by then.
    """
    product = find_product(code, ProductType.PREPAID)
    if product is None:
        raise Http404
    if request.method != "POST" and "review" not in request.GET:
        return _ask(request, product, DestinationForm(product=product, initial=_typed_before(request)))
    typed = request.POST if request.method == "POST" else _typed_before(request)
    form = DestinationForm(typed, product=product)
    if not form.is_valid():
        return _ask(request, product, form)
    if request.method != "POST":
        return _review(request, product, form, **repeats(product, form))
    return _confirm(request, product, form)


@staff_only(Right.VIEW_PRODUCT)
@require_GET
def recognise(request: StaffRequest, code: str) -> HttpResponse:
    """Say whose number is being typed, and whether that fits the product."""
    product = get_object_or_404(Product.objects.select_related("brand", "category"), code=code)
    kind = DestinationForm(product=product).kind
    context = {"product": product, **recognised(product, kind, request.GET.get("destination", ""))}
    return render(request, "purchases/recognised.html", context)


def _typed_before(request: StaffRequest) -> dict[str, str]:
    return {"destination": request.GET.get("destination", "")[:64]}


def _ask(request: StaffRequest, product: Product, form: DestinationForm) -> HttpResponse:
    typed = str(form["destination"].value() or "")
    context = {
        "product": product,
        "form": form,
        "typed": typed,
        "closed": product.in_cut_off(),
        **recognised(product, form.kind, typed),
        **limits_shown(request.user, product.price),
    }
    return render(request, "purchases/product_buy.html", context)


def _review(request: StaffRequest, product: Product, form: DestinationForm, **more: Any) -> HttpResponse:
    """Show what will happen. `more`: what a refused confirmation has to say, and its token."""
    return render(request, "purchases/product_review.html", review_facts(request, product, form, **more))


def _confirm(request: StaffRequest, product: Product, form: DestinationForm) -> HttpResponse:
    try:
        placed = place_confirmed(request, product, form)
    except NeedsApproval as need:
        return ask_and_show(request, need)
    except InvalidDestination as refusal:
        form.add_error("destination", str(refusal))
        return _ask(request, product, form)
    except NotForSale as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect("product_buy", code=product.code)
    if not isinstance(placed, Order):
        return _review(request, product, form, **placed)
    waits = placed.status == Status.NEEDS_ACTION
    words = _("Placed: it waits for a top-up.") if waits else _("Order placed.")
    messages.success(request, words, extra_tags="placed_to_wait" if waits else "placed")
    return redirect(placed)
