"""The facts of a review, and placing the confirmed order."""

from typing import Any

from django.contrib import messages
from django.utils.translation import gettext as _

from catalogue.destinations import DestinationKind
from catalogue.forms import DestinationForm
from catalogue.models import Product
from catalogue.operators import is_brand_of_another
from core.access import StaffRequest
from core.errors import OrderRefused
from core.rights import Right
from drawers.errors import SlipUsed
from drawers.forms import PaidByForm
from drawers.services import PaymentFacts, is_other_way, refuse_used_slip
from gateway.services import request_balance_reading
from ledger.presenting import Funds
from purchases import services
from purchases.errors import (
    BalanceShort,
    LimitReached,
    NeedsApproval,
    NotForSale,
    OpenDuplicate,
    OutsideHours,
    PriceMoved,
    RepeatToday,
    SellingPriceMoved,
    TokenUsed,
)
from purchases.forms import ConfirmForm
from purchases.models import Order
from purchases.presenting import limits_shown
from purchases.seals import cost_seen, seal_of
from purchases.states import Status


def recognised(product: Product, kind: DestinationKind, typed: str) -> dict[str, Any]:
    """The operator of the typed number, and whether the product is another operator's."""
    operator = kind.operator_of(typed)
    return {
        "operator": operator,
        "is_other_operator": operator is not None and is_brand_of_another(operator, product.brand.name),
    }


def repeats(product: Product, form: DestinationForm) -> dict[str, Any]:
    """The review's first words about an open order, or one of today, for the same product and destination.

    Without such an order, about one of another product for this destination with an unknown outcome: it may be the same
    sale.
    """
    try:
        services.refuse_repeat(product=product, destination=form.cleaned)
    except OpenDuplicate as refusal:
        return {"open_order": refusal.order, "refusal": refusal}
    except RepeatToday as refusal:
        return {"earlier": refusal.order, "refusal": refusal}
    in_doubt = Order.objects.filter(destination=form.cleaned, status=Status.UNKNOWN)
    return {"in_doubt": in_doubt.order_by("-created_at", "-pk").first()}


def review_facts(request: StaffRequest, product: Product, form: DestinationForm, **more: Any) -> dict[str, Any]:
    """The effects of the sale, for a review. `more`: the words of a refused confirmation, and its token."""
    funds = Funds.now()
    missing = funds.missing(product.price)
    closed = product.in_cut_off()
    whose = recognised(product, form.kind, form.cleaned)
    limits = limits_shown(request.user, product.price)
    # Nobody can approve more than the person's own limit: above it the page says only the refusal.
    needs_approval = not limits["limit_refusal"] and services.needs_approval(
        request.user, cost=product.price, price=product.sells_for
    )
    hours_refusal = None if needs_approval else services.outside_hours(request.user)
    is_below_cost = product.sells_for < product.price
    is_refused_sale = is_below_cost and not request.user.has_perm(Right.SELL_BELOW_COST)
    return {
        "product": product,
        "form": form,
        "shown_destination": form.kind.shown(form.cleaned),
        "token": ConfirmForm.new_token(),
        "seal": seal_of(product),
        "is_below_cost": is_below_cost,
        "missing": missing,
        # Before the books are opened nobody knows for certain, and the upstream decides.
        "must_wait": bool(missing) and funds.is_open,
        "needs_approval": needs_approval,
        "hours_refusal": hours_refusal,
        "closed": closed,
        "is_refused_now": closed
        or not product.is_available
        or limits["limit_refusal"]
        or is_refused_sale
        or hours_refusal,
        # Nothing needs a second thought: the button has the focus.
        "is_plain": not (
            missing
            or is_below_cost
            or whose["is_other_operator"]
            or limits["limit_refusal"]
            or hours_refusal
            or "refusal" in more
        ),
        "refusal_code": more["refusal"].code if "refusal" in more else "",
        **whose,
        **limits,
        **more,
    }


def say_if_paid_otherwise(request: StaffRequest, order: Order, payment: PaymentFacts) -> None:
    """Say that the same form has placed this order before, and that its first way to pay still counts."""
    if is_other_way(order.payment, payment):
        words = _(
            "%(ref_id)s was placed before, paid by: %(paid_by)s. If the customer paid in another way, change it on the"
            " order's page."
        )
        facts = {"ref_id": order.ref_id, "paid_by": order.payment.method_words}
        messages.warning(request, words % facts, extra_tags="paid_otherwise")


def place_confirmed(request: StaffRequest, product: Product, form: DestinationForm) -> Order | dict[str, Any]:
    """Place what the posted review confirms; returns the order, or after a refusal the words for the next review.

    Raises the refusals that no review can answer: `NeedsApproval`, `InvalidDestination`, `NotForSale`.
    """
    confirmed = ConfirmForm(request.POST)
    if not confirmed.is_valid():
        return {}
    seen_price, token = confirmed.cleaned_data["price"], str(confirmed.cleaned_data["token"])
    more: dict[str, Any]
    try:
        payment = PaidByForm(request.POST).payment(seen_price)
        refuse_used_slip(payment, own_keys=[token], confirmed=request.POST.get("confirm_slip", ""))
        order = services.place_order(
            product=product,
            destination=form.cleaned_data["destination"],
            max_price=cost_seen(product, seal=confirmed.cleaned_data["seal"], selling_price=seen_price),
            selling_price=seen_price,
            reason=confirmed.cleaned_data["reason"],
            idempotency_key=token,
            placed_by=request.user,
            confirm_repeat=confirmed.cleaned_data["confirm_repeat"],
            wait_for_topup=request.POST.get("confirm") == "wait",
            payment=payment,
        )
        say_if_paid_otherwise(request, order, payment)
        return order
    except (PriceMoved, SellingPriceMoved) as refusal:
        product.refresh_from_db()
        more = {"price_before": seen_price, "refusal": refusal, "token": token}
    except RepeatToday as refusal:
        more = {"earlier": refusal.order, "refusal": refusal, "token": token}
    except SlipUsed as refusal:
        more = {"slip_used": refusal, "refusal": refusal, "token": token}
    except OpenDuplicate as refusal:
        more = {"open_order": refusal.order, "refusal": refusal}
    except (NeedsApproval, NotForSale):
        raise
    except BalanceShort as refusal:
        request_balance_reading()  # a top-up of this minute is found sooner
        more = {"refusal": refusal, "short": refusal.words_for(request.user), "must_wait": True, "token": token}
    except (LimitReached, OutsideHours):
        more = {"token": token}  # the review says it
    except TokenUsed as refusal:
        more = {"refusal": refusal}
    except OrderRefused as refusal:
        more = {"refusal": refusal, "token": token}  # after a lost answer the order may be there already
    return more
