"""Pay a checked bill: an Order with the check's ref_id, for exactly the total that a person confirmed."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import DateTimeField, QuerySet, Value

from bills.errors import AlreadyPaid, CheckExpired, FeeChanged, NotPayable, Replaced, TotalChanged
from bills.models import BillCheck, payments_that_are_over
from bills.states import Standing
from core import clock
from core.errors import OrderRefused
from drawers import services as drawers
from drawers.services import PaymentFacts
from gateway.dispatching import Due
from gateway.line import Work
from purchases.errors import NeedsApproval, OpenDuplicate
from purchases.models import Order, OrderEvent
from purchases.services.actions import is_proposed, not_possible, proposal_waits
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.limits import refuse_beyond_limits
from purchases.services.moving import lock_order_for_move
from purchases.services.placing import IN_CASH, Approved, agreed_now, needs_approval, queue_order
from purchases.services.resolving import poll_before_deciding, requeue
from purchases.states import OPEN, Status
from staff.models import User


def lock_check_for_payment(pk: int) -> BillCheck:
    """Lock a check before its order, and return it `with_standing` and its order, as they are under the lock."""
    BillCheck.objects.select_for_update().get(pk=pk)
    # A second query: the query that waited for the lock would show the order from before the wait.
    return BillCheck.objects.with_standing().select_related("order", "product").get(pk=pk)


def key_of(ref_id: str) -> str:
    """The idempotency key of the only payment that the check with this ref_id can have."""
    return f"bill-{ref_id}"


def pay_bill(
    check: BillCheck,
    *,
    amount: int,
    fee: int | None = None,
    paid_by: User | None,
    enqueue: bool = True,
    payment: PaymentFacts = IN_CASH,
) -> Order:
    """Place the payment of a payable check; the same check again gives the same order, for every payer.

    `amount`: whole rupiah, the total that was seen; it goes with the payment, so that the upstream pays exactly this
    (document, /v1/bill/pay `amount`). `fee`: whole rupiah, the shop's fee that was seen; None for the present fee.
    `payment`: how the customer pays. Raises the refusal of `why_not_payable`, `TotalChanged`, `FeeChanged`,
    `NeedsApproval` above the person's limit, and the refusal of a sale on credit; nothing is stored or sent then.
    """
    return place_payment(check, amount=amount, fee=fee, paid_by=paid_by, enqueue=enqueue, payment=payment)[0]


def refuse_colleagues(order: Order, paid_by: User) -> None:
    """Raise `OpenDuplicate`, `AlreadyPaid` or `NotPayable` if colleagues, and not this person, have placed the payment.

    No drawer would count the cash that the customer would give to this person.
    """
    if order.placed_by_id == paid_by.pk or order.events.filter(actor=paid_by).exists():  # placed it, or sent it again
        return
    if not order.is_final:
        raise OpenDuplicate(order)
    raise AlreadyPaid(order) if order.status == Status.SUCCESS else NotPayable(order.bill_check)


def place_payment(
    check: BillCheck,
    *,
    amount: int,
    fee: int | None = None,
    paid_by: User | None,
    enqueue: bool = True,
    approved: Approved | None = None,
    payment: PaymentFacts = IN_CASH,
    in_background: bool = False,
) -> tuple[Order, bool]:
    """The same as `pay_bill`, and whether the payment is a new one: False when the check had it already.

    `in_background`: no person waits for it, so it is sent in the background's turns.
    """
    with transaction.atomic():
        current = lock_check_for_payment(check.pk)
        if current.order:
            drawers.refuse_other_debtor(current.order.payment, payment)
            return current.order, False
        total = _payable_total(current, amount)
        if fee not in {None, current.product.fee}:
            raise FeeChanged(current.product.fee)
        to_pay = total + current.product.fee
        if approved is None and needs_approval(paid_by, cost=total, price=to_pay):
            refuse_beyond_limits(paid_by, total, key=key_of(current.ref_id), is_only_asked=True)
            content = bill_content(current) | agreed_now(payment, paid_by)
            raise NeedsApproval("bill", subject=current.ref_id, content=content)
        former = payments_that_are_over().filter(product_code=current.product_code, destination=current.destination)
        facts = {"code": "replaced", "by": current.ref_id}
        _cancel(former.select_for_update(of=("self",)), actor=paid_by, facts=facts)
        order = queue_order(
            kind=Order.Kind.BILL,
            ref_id=current.ref_id,
            product=current.product,
            destination=current.destination,
            max_price=total,
            selling_price=to_pay,
            fee=current.product.fee,
            # One payment per check, for every payer and every try.
            idempotency_key=key_of(current.ref_id),
            placed_by=paid_by,
            enqueue=enqueue,
            in_background=in_background,
            approved=approved,
            payment=payment,
        )
        # Another check of the same months may have been paid since we read it; while it was open, the database's
        # constraint refused this one.
        if paid_ref := BillCheck.objects.with_standing().get(pk=current.pk).paid_ref:
            raise AlreadyPaid(Order.objects.get(ref_id=paid_ref))
        current.order = order
        current.save(update_fields=["order"])
        return order, True


def bill_content(check: BillCheck) -> dict[str, Any]:
    """Everything that a payment sends, with the customer of the bill; amounts in rupiah."""
    return {
        "ref_id": check.ref_id,
        "product_code": check.product_code,
        "product_name": check.product_name,
        "destination": check.destination,
        "customer_name": check.customer_name,
        "period": check.period,
        "price": check.total,
        "fee": check.product.fee,
        "expires_at": check.expires_at.isoformat() if check.expires_at else None,
    }


def pay_again(order: Order, *, amount: int, actor: User | None, enqueue: bool = True) -> Order:
    """Put a payment that needs action back in the queue, with the SAME ref_id, while its check can be paid.

    `amount`: whole rupiah, the confirmed total. If somebody has sent it again already, nothing is sent twice. Raises
    `ActionRefused` for a final payment, or while a proposed outcome waits for a second person; and the refusal of
    `why_not_payable`, `TotalChanged` or `BalanceShort`.
    """
    poll_before_deciding(order)
    with transaction.atomic():
        check = lock_check_for_payment(order.bill_check.pk)
        current = lock_order_for_move(order.pk)
        if current.status in OPEN - {Status.NEEDS_ACTION}:
            return current
        if current.status != Status.NEEDS_ACTION:
            raise not_possible(current)
        if is_proposed(current):
            raise proposal_waits()
        return requeue(current, max_price=_payable_total(check, amount), actor=actor, enqueue=enqueue)


def cancel_expired(limit: int) -> list[Work]:
    """Cancel at most `limit` payments that can never be sent again, so that nobody has to handle them."""
    for pk in list(payments_that_are_over().order_by("pk").values_list("pk", flat=True)[:limit]):
        # Each by itself: after the shift of one payment no other payment may be locked.
        with transaction.atomic():
            over = payments_that_are_over().filter(pk=pk).select_for_update(of=("self",), skip_locked=True)
            _cancel(over, actor=None, facts={"code": "bill_expired"})
    return []


def _earliest() -> QuerySet[Any]:
    return payments_that_are_over().order_by().values_list(Value(clock.now(), DateTimeField()))


# No person waits for them, so the dispatcher is not woken for them.
EXPIRED_PAYMENTS = Due(earliest=_earliest, take=cancel_expired, asks_upstream=False)


def why_not_payable(check: BillCheck) -> OrderRefused | None:
    """The reason why a check that was read `with_standing` cannot be paid (again) now; None when it can."""
    match check.now_standing:
        case Standing.PAYABLE | Standing.PAY_AGAIN | Standing.CONFIRM | Standing.TOTAL_CHANGED:
            return None
        case Standing.EXPIRED | Standing.DECIDE:
            return CheckExpired()
        case Standing.PAID_BEFORE:
            return AlreadyPaid(Order.objects.get(ref_id=check.paid_ref))
        case Standing.OPEN_ELSEWHERE:
            return OpenDuplicate(Order.objects.get(ref_id=check.open_ref))
        case Standing.REPLACED:
            return Replaced(check.newer_ref or "")
    return NotPayable(check)


def _payable_total(check: BillCheck, amount: int) -> int:
    if refusal := why_not_payable(check):
        raise refusal
    if check.total is None or check.total != amount:
        raise TotalChanged(check.total or 0)
    return check.total


def _cancel(payments: Iterable[Order], *, actor: User | None, facts: dict[str, str]) -> None:
    """Cancel these payments, which are locked and can never be sent again."""
    decision = Decision(status=Status.CANCELLED, source=OrderEvent.Source.STAFF, actor=actor, facts=facts)
    for order in list(payments):
        apply_verdict(order.pk, decision)
