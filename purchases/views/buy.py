"""Buying one product: type the destination, review, confirm. Nothing is stored before the confirmation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from catalogue.destinations import DestinationKind, is_brand_of_another, operator_of, shown
from catalogue.errors import InvalidDestination
from catalogue.forms import DestinationForm
from catalogue.models import Product, ProductType
from catalogue.services import find_product
from core.access import StaffRequest, staff_only
from gateway.services import request_balance_reading
from ledger.presenting import Funds
from purchases import services
from purchases.errors import (
    BalanceShort,
    LimitReached,
    NeedsApproval,
    NotForSale,
    OpenDuplicate,
    OrderRefused,
    PriceMoved,
    RepeatToday,
    SellingPriceMoved,
)
from purchases.forms import ConfirmForm
from purchases.presenting import limits_shown
from purchases.seals import cost_seen, seal_of
from purchases.services.actions import SELL_BELOW_COST
from purchases.states import Status
from purchases.views.approving import ask_and_show


@staff_only("catalogue.view_product", "purchases.buy")
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
        return _review(request, product, form, **_repeats(product, form))
    return _confirm(request, product, form)


@staff_only("catalogue.view_product")
@require_GET
def recognise(request: StaffRequest, code: str) -> HttpResponse:
    """Say whose number is being typed, and whether that fits the product."""
    product = get_object_or_404(Product.objects.select_related("brand", "category"), code=code)
    kind = DestinationForm(product=product).kind
    context = {"product": product, **_recognised(product, kind, request.GET.get("destination", ""))}
    return render(request, "purchases/recognised.html", context)


def _typed_before(request: StaffRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "")[:64] for name in ("destination", "zone")}


def _recognised(product: Product, kind: DestinationKind, typed: str) -> dict[str, Any]:
    operator = operator_of(typed) if kind is DestinationKind.PHONE else None
    return {
        "operator": operator,
        "is_other_operator": operator is not None and is_brand_of_another(operator, product.brand.name),
    }


def _ask(request: StaffRequest, product: Product, form: DestinationForm) -> HttpResponse:
    typed = str(form["destination"].value() or "")
    context = {
        "product": product,
        "form": form,
        "typed": typed,
        "closed": product.in_cut_off(),
        **_recognised(product, form.kind, typed),
        **limits_shown(request.user, product.price),
    }
    return render(request, "purchases/product_buy.html", context)


def _repeats(product: Product, form: DestinationForm) -> dict[str, Any]:
    """What the review says at once about an open order, or one of today, for the same product and destination."""
    try:
        services.refuse_repeat(product=product, destination=form.cleaned)
    except OpenDuplicate as refusal:
        return {"open_order": refusal.order, "refusal": refusal}
    except RepeatToday as refusal:
        return {"earlier": refusal.order, "refusal": refusal}
    return {}


def _review(request: StaffRequest, product: Product, form: DestinationForm, **more: Any) -> HttpResponse:
    """Show what will happen. `more`: what a refused confirmation has to say, and its token."""
    funds = Funds.now()
    missing = funds.missing(product.price)
    closed = product.in_cut_off()
    recognised = _recognised(product, form.kind, form.cleaned)
    limits = limits_shown(request.user, product.price)
    is_below_cost = product.sells_for < product.price
    is_refused_sale = is_below_cost and not request.user.has_perm(SELL_BELOW_COST)
    context = {
        "product": product,
        "form": form,
        "shown_destination": shown(form.kind, form.cleaned),
        "token": ConfirmForm.new_token(),
        "seal": seal_of(product),
        "is_below_cost": is_below_cost,
        "funds": funds,
        "available_after": funds.after(product.price),
        "missing": missing,
        # Before the books are opened nobody knows for certain, and the upstream decides.
        "must_wait": bool(missing) and funds.is_open,
        "needs_approval": services.needs_approval(request.user, product.price),
        "closed": closed,
        "is_refused_now": closed or not product.is_available or limits["limit_refusal"] or is_refused_sale,
        # Nothing to think about: the button has the focus.
        "is_plain": not (
            missing or is_below_cost or recognised["is_other_operator"] or limits["limit_refusal"] or "refusal" in more
        ),
        "typed": urlencode({name: form[name].value() for name in form.fields}),
        "refusal_code": more["refusal"].code if "refusal" in more else "",
        **recognised,
        **limits,
        **more,
    }
    return render(request, "purchases/product_review.html", context)


def _confirm(request: StaffRequest, product: Product, form: DestinationForm) -> HttpResponse:
    confirmed = ConfirmForm(request.POST)
    if not confirmed.is_valid():
        return _review(request, product, form)
    seen_price, token = confirmed.cleaned_data["price"], str(confirmed.cleaned_data["token"])
    say: dict[str, Any] = {}
    try:
        order = services.place_order(
            product=product,
            destination=form.cleaned_data["destination"],
            zone=form.cleaned_data.get("zone", ""),
            max_price=cost_seen(product, seal=confirmed.cleaned_data["seal"], selling_price=seen_price),
            selling_price=seen_price,
            reason=confirmed.cleaned_data["reason"],
            idempotency_key=token,
            placed_by=request.user,
            confirm_repeat=confirmed.cleaned_data["confirm_repeat"],
            wait_for_topup=request.POST.get("confirm") == "wait",
        )
    except (PriceMoved, SellingPriceMoved) as refusal:
        product.refresh_from_db()
        say = {"price_before": seen_price, "refusal": refusal, "token": token}
    except RepeatToday as refusal:
        say = {"earlier": refusal.order, "refusal": refusal, "token": token}
    except OpenDuplicate as refusal:
        say = {"open_order": refusal.order, "refusal": refusal}
    except NeedsApproval as need:
        return ask_and_show(request, need)
    except InvalidDestination as refusal:
        form.add_error("destination", str(refusal))
        return _ask(request, product, form)
    except NotForSale as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect("product_buy", code=product.code)
    except BalanceShort as refusal:
        request_balance_reading()  # a top-up of this minute is found sooner
        say = {"refusal": refusal, "short": refusal.words_for(request.user), "must_wait": True, "token": token}
    except LimitReached:
        say = {"token": token}  # the review says it
    except OrderRefused as refusal:
        say = {"refusal": refusal}
    else:
        waits = order.status == Status.NEEDS_ACTION
        words = _("Placed: it waits for a top-up.") if waits else _("Order placed.")
        messages.success(request, words, extra_tags="placed_to_wait" if waits else "placed")
        return redirect(order)
    return _review(request, product, form, **say)
