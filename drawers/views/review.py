"""How a customer pays, chosen where an order is confirmed: credit is part of placing it, the rest is noted after."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.db import transaction
from django.utils.translation import gettext as _

from core.access import StaffRequest
from core.errors import Refused
from credit import services as credit
from credit.errors import CreditRefused
from credit.models import Method
from drawers import services
from drawers.errors import PaymentUnclear
from drawers.forms import PaidByForm
from purchases.errors import NeedsApproval
from purchases.models import Order


def place_as_paid(
    request: StaffRequest,
    place: Callable[[], Order],
    *,
    amount: int,
    key: str,
    lock: Callable[[], object] | None = None,
) -> Order:
    """Place the order as `purchases.services.payment.place_as_paid` says; return it.

    On credit it is placed only if it fits on the customer's account. Any other way is noted once it is placed: should
    that fail, the next page says so, and the order stays. Raises `PaymentUnclear`, `CreditRefused`, and what `place`
    raises.
    """
    form = PaidByForm(request.POST)
    if not form.is_valid():
        raise PaymentUnclear(next(iter(form.errors.values()))[0])
    chosen, given = Method(form.cleaned_data["paid_by"]), form.cleaned_data["cash_given"]
    try:
        if chosen == Method.CREDIT:
            customer = form.cleaned_data["paid_by_customer"]
            if customer is None:
                raise CreditRefused("no_customer")
            with transaction.atomic():
                if lock:
                    lock()
                return credit.sell_on_credit(customer, amount=amount, key=key, place=place, actor=request.user)
        if given is not None and chosen == Method.CASH and given < amount:
            raise PaymentUnclear(_("The customer gave less than the price."))
        order = place()
    except NeedsApproval:
        messages.warning(
            request, _("Once it is approved, note on the order's page how it was paid."), extra_tags="unpaid"
        )
        raise
    try:
        services.note_payment(order, method=chosen, cash_given=given, actor=request.user)
    except Refused as refusal:
        words = _("The order is placed, but how it was paid is not noted: %(why)s") % {"why": refusal}
        messages.warning(request, words, extra_tags=refusal.code)
    return order
