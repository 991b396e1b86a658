"""Pay a checked bill: an Order with the check's ref_id, for exactly the total that a person confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from bills.errors import AlreadyPaid, CheckExpired, NotPayable, Replaced, TotalChanged
from bills.models import Answer, BillCheck, State, lapsed_payments
from purchases.errors import NotPossible
from purchases.models import Order, OrderEvent
from purchases.order_life import OPEN, Status
from purchases.services.outcome import Outcome, apply_outcome
from purchases.services.placing import queue_order
from purchases.services.resolving import ask_before_deciding, requeue

if TYPE_CHECKING:
    from staff.models import User


def pay_bill(check: BillCheck, *, amount: int, paid_by: User | None, enqueue: bool = True) -> Order:
    """Place the payment of a valid check; the same check again gives the same order, whoever pays.

    `amount`: whole rupiah, the total that was seen; it goes with the payment, so that the upstream pays just that
    (document, /v1/bill/pay `amount`). Raises `NotPayable`, `CheckExpired`, `TotalChanged`, `Replaced`, `AlreadyPaid` or
    `OpenDuplicate`; nothing is stored or sent then.
    """
    return place_payment(check, amount=amount, paid_by=paid_by, enqueue=enqueue)[0]


def place_payment(check: BillCheck, *, amount: int, paid_by: User | None, enqueue: bool = True) -> tuple[Order, bool]:
    """The same as `pay_bill`, and whether the payment is a new one: False when the check had it already."""
    with transaction.atomic():
        current = BillCheck.objects.select_for_update().get(pk=check.pk)
        if before := Order.objects.filter(ref_id=current.ref_id).first():
            return before, False
        total = _payable_total(current, amount)
        newer = BillCheck.objects.same_bill(current).filter(answer=Answer.BILL, pk__gt=current.pk).order_by("-pk")
        if replaced_by := next((found for found in newer if found.state == State.VALID), None):
            raise Replaced(replaced_by)
        if paid := current.paid_before:
            raise AlreadyPaid(paid)
        _cancel_expired(current, actor=paid_by)
        order = queue_order(
            kind=Order.Kind.BILL,
            ref_id=current.ref_id,
            product=current.product,
            destination=current.destination,
            max_price=total,
            # One payment per check: whoever pays it, and however often.
            idempotency_key=f"bill-{current.ref_id}",
            placed_by=paid_by,
            enqueue=enqueue,
        )
        # Another check of the same months may have been paid since we looked; while it was open, the database's
        # constraint refused this one.
        if paid := current.paid_before:
            raise AlreadyPaid(paid)
        return order, True


def _cancel_expired(check: BillCheck, *, actor: User | None) -> None:
    """Cancel a held payment of the same bill whose own check has expired: it can never be sent again."""
    former = lapsed_payments().filter(product_code=check.product_code, destination=check.destination)
    for order in former.select_for_update():
        outcome = Outcome(status=Status.CANCELLED, note=f"its check expired; checked again as {check.ref_id}")
        apply_outcome(order.pk, outcome, source=OrderEvent.Source.STAFF, actor=actor)


def pay_again(order: Order, *, amount: int, actor: User | None, enqueue: bool = True) -> Order:
    """Send a held payment again with the SAME ref_id, while its check lives, for the total that was confirmed now.

    `amount`: whole rupiah. Somebody may have sent it again already: then that is it, and nothing is sent twice. Raises
    `NotPossible` for a final one, `CheckExpired`, `TotalChanged` or `BalanceShort`.
    """
    ask_before_deciding(order)
    with transaction.atomic():
        check = BillCheck.objects.select_for_update().get(ref_id=order.ref_id)
        held = Order.objects.select_for_update().get(pk=order.pk)
        if held.status in OPEN - {Status.HELD}:
            return held
        if held.status != Status.HELD:
            raise NotPossible(
                _("Not possible: the order is now “%(status)s”.") % {"status": Status(held.status).label.lower()}
            )
        return requeue(held, max_price=_payable_total(check, amount), actor=actor, enqueue=enqueue)


def _payable_total(check: BillCheck, amount: int) -> int:
    if check.answer != Answer.BILL or check.total is None:
        raise NotPayable(check)
    if check.is_past_expiry:
        raise CheckExpired
    if check.total != amount:
        raise TotalChanged(check.total)
    return check.total
