"""How a customer pays is of no concern to an order. A room above says so, as part of placing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from core.access import StaffRequest
    from purchases.models import Order
    from staff.models import User

# Where an approval's content holds how the customer pays.
PAYMENT = "payment"


class Payment(Protocol):
    """What a posted review says of the payment, in the room that `settings.PAYMENT_READ_BY` names."""

    def place(
        self, place: Callable[[], Order], *, amount: int, key: str, lock: Callable[[], object] | None = None
    ) -> Order:
        """Place one order for `amount` rupiah; on credit it is on the customer's account with it, or not placed."""

    def note(self, orders: Sequence[Order], *, kept: int = 0) -> None:
        """Once they are placed: note how they were paid.

        `kept`: rupiah of the cash given that are for what is not placed yet.
        """

    def part(self, amount: int) -> Payment:
        """The same for one of several orders, which sells for `amount` rupiah."""

    def refuse_unless_sold(self, amount: int) -> None:
        """Raise an `OrderRefused` when the customer may not owe `amount` rupiah more."""


class AgreedPayment(Protocol):
    """The same as an approval keeps it, in the room that `settings.AGREED_PAYMENT` names."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> AgreedPayment:
        """As an approval's content holds it."""

    @property
    def facts(self) -> dict[str, Any]:
        """For an approval's content, as it is now."""

    @property
    def words(self) -> str:
        """For people."""

    def place_approved(self, place: Callable[[], Order], *, amount: int, key: str, seller: User) -> Order:
        """Place the order of `seller` for `amount` rupiah, paid so; the same as `Payment.place`."""


def payment_said(request: StaffRequest, *, amount: int) -> Payment | None:
    """How the customer pays `amount` rupiah in all, as the posted review says; None for cash, as nearly always.

    Then nothing is asked or noted. Raises an `OrderRefused` for what makes no sense.
    """
    if request.POST.get("paid_by", "cash") == "cash" and not request.POST.get("cash_given"):
        return None
    reading: Callable[..., Payment] = import_string(settings.PAYMENT_READ_BY)
    return reading(request, amount=amount)


def place_as_paid(
    request: StaffRequest,
    place: Callable[[], Order],
    *,
    amount: int,
    key: str,
    lock: Callable[[], object] | None = None,
) -> Order:
    """Place an order by `place`, and note how the customer pays, as the posted review says; return the order.

    `amount`: rupiah that the customer confirmed. `key`: the order's idempotency key. `lock`: takes what is locked
    before anything else, for who needs a transaction around it. Raises what `place` raises, where it is a
    `NeedsApproval` with the payment in its content; and what `payment_said` raises.
    """
    payment = payment_said(request, amount=amount)
    if payment is None:
        return place()
    order = payment.place(place, amount=amount, key=key, lock=lock)
    payment.note([order])
    return order


def place_as_agreed(
    content: Mapping[str, Any], place: Callable[[], Order], *, amount: int, key: str, seller: User
) -> Order:
    """Place an approved order by `place`, paid as its `content` says. Raises what `place` and the payment raise."""
    payment = _agreed(content)
    return payment.place_approved(place, amount=amount, key=key, seller=seller) if payment else place()


def payment_now(content: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an approval's content about the payment, as it is now; empty where it was simply cash."""
    payment = _agreed(content)
    return {PAYMENT: payment.facts} if payment else {}


def payment_words(content: Mapping[str, Any]) -> str:
    """How the customer pays, in words; empty where nobody said it."""
    payment = _agreed(content)
    return payment.words if payment else ""


def _agreed(content: Mapping[str, Any]) -> AgreedPayment | None:
    facts = content.get(PAYMENT)
    agreed: type[AgreedPayment] = import_string(settings.AGREED_PAYMENT)
    return agreed.of(facts) if facts else None
