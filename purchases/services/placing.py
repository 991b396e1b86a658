"""Places an order: every possible refusal happens here, before anything is sent."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from catalogue.models import Product, ProductType
from core.bulk import read_rows
from core.numbers import ErasedText
from core.rights import Right
from core.times import asked_again_since
from credit.errors import CreditRefused
from drawers import services as drawers
from drawers.services import PaymentFacts
from gateway import line
from gateway.line import Work
from gateway.polling import HEAD_START_SECONDS, in_seconds
from purchases.errors import (
    BalanceShort,
    BelowCost,
    NeedsApproval,
    NotForSale,
    OpenDuplicate,
    PriceMoved,
    RepeatToday,
    SellingPriceMoved,
    TokenUsed,
)
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.services.limits import outside_hours, refuse_beyond_limits
from purchases.services.moving import store
from purchases.services.sweeping import SUBMIT
from purchases.states import OPEN, ActionReason, Status
from staff.models import User
from staff.services import limits_of

# The way in which customers nearly always pay.
IN_CASH = PaymentFacts()
# The key of the payment in an approval's content.
PAYMENT = "payment"
# Without letters and digits that people take for one another.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
# In SQL, because every click asks this, and Django takes longer to build the query than PostgreSQL to answer it.
_OPEN = ", ".join(f"'{status}'" for status in sorted(OPEN))
_LOOK = f"""
    WHERE idempotency_key = %s OR (
        product_code = %s AND destination = %s AND (status IN ({_OPEN}) OR (status = 'success' AND created_at >= %s))
    )
"""


@dataclass(frozen=True, kw_only=True)
class Approved:
    """A second person has approved the order under this ref_id. `approval`: its key; `by`: the approver.

    `number_erased`: the customer was erased while it waited, so that nobody sees the number.
    """

    ref_id: str
    approval: int
    by: User
    number_erased: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """For the order's timeline."""
        return {"code": "approved", "approval": self.approval, "by": self.by.username}


def place_order(
    *,
    product: Product,
    destination: str,
    max_price: int,
    idempotency_key: str,
    placed_by: User | None,
    takes_less: bool = False,
    selling_price: int | None = None,
    reason: str = "",
    confirm_repeat: bool = False,
    wait_for_topup: bool = False,
    enqueue: bool = True,
    approved: Approved | None = None,
    payment: PaymentFacts = IN_CASH,
    ref_id: str = "",
    in_background: bool = False,
) -> Order:
    """Store an order (queued) and put it into the line of the person; return it.

    `max_price`: whole rupiah, the price that was seen; the upstream must not charge more. `takes_less`: a lower price
    is taken, too. `selling_price`: whole rupiah, the price that the customer confirmed; without it the product's
    present price. `reason`: why it is sold below cost. `idempotency_key`: one per confirmed form or command; the same
    key gives the same order again. `confirm_repeat`: a person wants a second one on the same day. `wait_for_topup`: if
    less is available, it needs action until it is queued automatically. `enqueue=False`: the caller submits it.
    `approved`: the approval, if it is above the person's limit. `payment`: how the customer pays. `ref_id`: made
    before; without it a new one is made. `in_background`: no person waits for it, so it is sent in the background's
    turns.

    Raises `InvalidDestination`, `NotForSale`, `PriceMoved`, `SellingPriceMoved`, `OpenDuplicate`, `RepeatToday`,
    `TokenUsed`, `BelowCost`, `LimitReached`, `OutsideHours`, `NeedsApproval`, `BalanceShort`, `PaymentUnclear` or
    `CreditRefused`; nothing is stored or sent then.
    """
    destination = product.kind.clean(destination)
    same_or_repeated = _look(product, destination, idempotency_key)
    if before := next((order for order in same_or_repeated if order.idempotency_key == idempotency_key), None):
        return _same_order(before, product, destination, payment)
    refuse_if_not_for_sale(product)
    if product.price > max_price or (product.price < max_price and not takes_less):
        raise PriceMoved(product.price)
    if selling_price not in {None, product.sells_for}:
        raise SellingPriceMoved(product.sells_for)
    _refuse_any(same_or_repeated, confirm_repeat=confirm_repeat)
    is_below_cost = product.sells_for < product.price
    if is_below_cost:
        refuse_below_cost(placed_by, reason)
    reason = reason.strip()[:500] if is_below_cost else ""
    if approved is None and needs_approval(placed_by, cost=max_price, price=product.sells_for):
        refuse_beyond_limits(placed_by, max_price, key=idempotency_key, is_only_asked=True)
        raise NeedsApproval(
            "order",
            subject=f"{product.code} {destination}",
            content={
                "ref_id": new_ref_id(),
                "product_code": product.code,
                "product_name": product.name,
                "destination": destination,
                "price": product.price,
                "max_price": max_price,
                "selling_price": product.sells_for,
                "below_cost": reason,
                "confirm_repeat": confirm_repeat,
                "wait_for_topup": wait_for_topup,
                "idempotency_key": idempotency_key,
                **agreed_now(payment, placed_by),
            },
        )
    return queue_order(
        kind=Order.Kind.PURCHASE,
        ref_id=approved.ref_id if approved else ref_id or new_ref_id(),
        product=product,
        destination=destination,
        max_price=max_price,
        selling_price=product.sells_for,
        idempotency_key=idempotency_key,
        placed_by=placed_by,
        wait_for_topup=wait_for_topup,
        enqueue=enqueue,
        in_background=in_background,
        approved=approved,
        note=reason,
        payment=payment,
    )


def agreed_now(payment: PaymentFacts, seller: User | None) -> dict[str, Any]:
    """The part of an approval's content about the payment, with the shift that sells it. Raises `PaymentUnclear`."""
    shift = drawers.open_shift_of(seller.pk) if seller else None
    agreed_in = shift.pk if shift else None
    payment.refuse_unless_in(agreed_in)
    return {PAYMENT: replace(payment, agreed_in=agreed_in).plain}


def needs_approval(person: User | None, *, cost: int, price: int) -> bool:
    """Whether an order of this person needs a second person. A command, which names nobody, never does.

    The higher one counts, in rupiah: `cost`, the most that the upstream may charge, or `price`, what the customer pays.
    """
    limit = limits_of(person).approval_above if person else None
    return limit is not None and max(cost, price) > limit


def refuse_below_cost(person: User | None, reason: str) -> None:
    """Raise `BelowCost` unless this person may sell below cost, and says why. A command, which names nobody, may."""
    if person is None:
        return
    if not person.has_perm(Right.SELL_BELOW_COST):
        raise BelowCost("no_right")
    if not reason.strip():
        raise BelowCost("no_reason")


def refuse_repeat(*, product: Product, destination: str, confirm_repeat: bool = False) -> None:
    """Raise `OpenDuplicate`, or `RepeatToday` unless it is confirmed, for a normalised destination."""
    _refuse_any(_look(product, destination), confirm_repeat=confirm_repeat)


def refuse_if_among(
    repeats: Iterable[Order], *, product_code: str, destination: str, confirm_repeat: bool = False
) -> None:
    """The same as `refuse_repeat`, for rows of `repeats_of` that were read before."""
    same = [repeat for repeat in repeats if (repeat.product_code, repeat.destination) == (product_code, destination)]
    _refuse_any(same, confirm_repeat=confirm_repeat)


def repeats_of(pairs: Iterable[tuple[str, str]]) -> OrderQuerySet:
    """Orders for these products (by code) and destinations that are open, or were bought lately."""
    same = Q(pk__in=())
    for product_code, destination in pairs:
        same |= Q(product_code=product_code, destination=destination)
    return Order.objects.filter(same, _lately()).order_by("-created_at", "-pk")


def repeats_lately(destinations: Iterable[str]) -> OrderQuerySet:
    """Orders for these destinations, of any product, that are open or were bought lately."""
    return Order.objects.filter(_lately(), destination__in=[*destinations])


def _lately() -> Q:
    return Q(status__in=sorted(OPEN)) | Q(status=Status.SUCCESS, created_at__gte=asked_again_since(timezone.now()))


def queue_order(
    *,
    kind: Order.Kind,
    ref_id: str,
    product: Product,
    destination: str,
    max_price: int,
    selling_price: int,
    fee: int | None = None,
    idempotency_key: str,
    placed_by: User | None,
    wait_for_topup: bool = False,
    enqueue: bool,
    in_background: bool = False,
    approved: Approved | None = None,
    note: str = "",
    payment: PaymentFacts,
) -> Order:
    """Store an order whose facts were checked already, reserve its price, and put it into the line of the person.

    `selling_price`: whole rupiah, what the customer pays, with the shop's `fee` for a bill. `note`: the person's words.
    `payment`: how the customer pays. `in_background`: it joins no line, and is due at once.

    The database has the last word: the same key gives the same order again, and raises `OpenDuplicate` when another one
    for this product and destination is open. Raises `LimitReached`, or `BalanceShort` unless `wait_for_topup` lets it
    wait; raises `OutsideHours` if nobody has approved it and the person may not sell at this hour.
    """
    if approved is None and (closed := outside_hours(placed_by)):
        raise closed
    wait = HEAD_START_SECONDS if enqueue else settings.ORDER_LEASE_SECONDS
    order = Order(
        kind=kind,
        ref_id=ref_id,
        idempotency_key=idempotency_key,
        product=product,
        product_code=product.code,
        product_name=product.name,
        destination=destination,
        number_erased=isinstance(destination, ErasedText) or (approved is not None and approved.number_erased),
        max_price=max_price,
        selling_price=selling_price,
        fee=fee,
        placed_by=placed_by,
        waits_for_topup=wait_for_topup,
        next_poll_at=in_seconds(0 if in_background else wait),
    )
    facts = approved.facts if approved else {}
    try:
        try:
            store(order, payment, facts, note=note)
        except BalanceShort:
            if not wait_for_topup:
                raise
            order.pk, order.next_poll_at = None, None
            order.status, order.action_reason = Status.NEEDS_ACTION, ActionReason.BALANCE_SHORT
            store(order, payment, facts, note=note)
    except (IntegrityError, CreditRefused):
        # Another request was faster between our query and our insert: a constraint or the account refused ours.
        if before := Order.objects.filter(idempotency_key=idempotency_key).first():
            return _same_order(before, product, destination, payment)
        if duplicate := Order.objects.open().filter(product_code=product.code, destination=destination).first():
            raise OpenDuplicate(duplicate) from None
        raise
    if in_background:
        line.ring_when_committed(order.next_poll_at)
    elif enqueue and order.status == Status.QUEUED:
        transaction.on_commit(lambda: _enqueue(order))
    return order


def new_ref_id() -> str:
    """A new ref_id: the day, for people, and 49 random bits, so that it is never made twice."""
    day = timezone.localdate().strftime("%y%m%d")
    return f"B{day}-" + "".join(secrets.choice(_ALPHABET) for _ in range(10))


def _look(product: Product, destination: str, idempotency_key: str | None = None) -> list[Order]:
    """Orders with this key, and orders for this product and destination that are open or were bought lately."""
    return read_rows(Order, _LOOK, [idempotency_key, product.code, destination, asked_again_since(timezone.now())])


def _refuse_any(repeats: Iterable[Order], *, confirm_repeat: bool) -> None:
    newest_first = sorted(repeats, key=lambda order: order.created_at, reverse=True)
    if duplicate := next((order for order in newest_first if not order.is_final), None):
        raise OpenDuplicate(duplicate)
    if newest_first and not confirm_repeat:
        raise RepeatToday(newest_first[0])


def _enqueue(order: Order) -> None:
    line.join(Work(SUBMIT, order.pk), person_id=order.placed_by_id)


def _same_order(order: Order, product: Product, destination: str, payment: PaymentFacts) -> Order:
    drawers.refuse_other_debtor(order.payment, payment)
    if (order.product_code, order.destination) != (product.code, destination):
        raise TokenUsed(order)
    return order


def refuse_if_not_for_sale(product: Product) -> None:
    """Raise `NotForSale` unless the product can be bought at this moment."""
    if product.type != ProductType.PREPAID:
        raise NotForSale("postpaid")
    if not product.is_listed:
        raise NotForSale("delisted")
    if not product.is_available or product.price <= 0:
        raise NotForSale("unavailable")
    if product.in_cut_off():
        raise NotForSale("cut_off")
