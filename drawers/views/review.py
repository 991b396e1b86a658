"""How a customer pays, chosen where an order is confirmed: credit is part of placing it, the rest is noted after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.contrib import messages
from django.utils.translation import gettext as _

from core.access import StaffRequest
from core.errors import Refused
from credit import services as credit
from credit.errors import CreditRefused
from credit.models import Method
from drawers import services
from drawers.errors import PaymentUnclear
from drawers.forms import PaidByForm
from drawers.services import OWED, Agreed
from purchases.errors import NeedsApproval
from purchases.models import Order
from purchases.services.payment import PAYMENT


@dataclass(frozen=True)
class Said:
    """What the posted review says of the payment (`purchases.services.payment.Payment`)."""

    request: StaffRequest
    agreed: Agreed

    def place(
        self, place: Callable[[], Order], *, amount: int, key: str, lock: Callable[[], object] | None = None
    ) -> Order:
        """Place one order for `amount` rupiah; on credit only if it fits on the customer's account.

        Raises `CreditRefused`, and what `place` raises: a `NeedsApproval` has the payment in its content then.
        """
        agreed = self.agreed
        try:
            return agreed.place(place, amount=amount, key=key, seller=self.request.user, lock=lock)
        except NeedsApproval as need:
            need.content[PAYMENT] = agreed.facts
            raise

    def note(self, orders: Sequence[Order], *, kept: int = 0) -> None:
        """Note how these new orders were paid. Should that fail, the next page says so, and the orders stay.

        `kept`: rupiah of the cash given that are for what is not placed yet. The change goes with the first.
        """
        if self.agreed.method == Method.CREDIT:
            return
        given = self.agreed.cash_given
        change = None if given is None else max(0, given - kept - sum(order.customer_pays for order in orders))
        for order in orders:
            with_change = None if change is None else order.customer_pays + change
            # As it was placed: with the same review again, it may have failed long ago.
            is_new = order.status not in OWED
            try:
                services.note_payment(
                    order,
                    method=self.agreed.method,
                    cash_given=with_change,
                    actor=self.request.user,
                    while_placing=is_new,
                )
            except Refused as refusal:
                words = _("The order is placed, but how it was paid is not noted: %(why)s") % {"why": refusal}
                messages.warning(self.request, words, extra_tags=refusal.code)
            change = None if change is None else 0

    def part(self, amount: int) -> Said:
        """The same for one of several orders: of the cash given just `amount` rupiah are for it."""
        given = None if self.agreed.cash_given is None else amount
        return replace(self, agreed=replace(self.agreed, cash_given=given))

    def refuse_unless_sold(self, amount: int) -> None:
        """Raise `CreditRefused` when this is credit and the customer may not owe `amount` rupiah more."""
        if self.agreed.method == Method.CREDIT and self.agreed.customer:
            credit.refuse_unless_sold_in_all(self.agreed.customer, amount=amount, actor=self.request.user)


def read_payment(request: StaffRequest, *, amount: int) -> Said:
    """What the posted review says, for `amount` rupiah in all. Raises `PaymentUnclear`, or `CreditRefused`."""
    form = PaidByForm(request.POST)
    if not form.is_valid():
        raise PaymentUnclear(next(iter(form.errors.values()))[0])
    method, given = Method(form.cleaned_data["paid_by"]), form.cleaned_data["cash_given"]
    if method == Method.CASH and given is not None and given < amount:
        raise PaymentUnclear(_("The customer gave less than the price."))
    customer = form.cleaned_data["paid_by_customer"] if method == Method.CREDIT else None
    if method == Method.CREDIT and customer is None:
        raise CreditRefused("no_customer")
    cash_given = given if method == Method.CASH else None
    return Said(request, Agreed(method=method, cash_given=cash_given, customer=customer))
