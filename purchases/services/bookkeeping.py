"""What each move of an order's life does to the books, in the transaction of the move.

Held from the queue until the upstream has said yes or no; debited when it reports the order; refunded when it reports a
failure. An order without a hold (older than the books) is tolerated: nothing is released then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from balance import services as balance
from balance.errors import NotEnough
from purchases.errors import BalanceShort
from purchases.models import Order
from purchases.order_life import HoldReason, Status

if TYPE_CHECKING:
    from staff.models import User


def hold(order: Order, *, actor: User | None) -> None:
    """Reserve the order's confirmed price. Raises `BalanceShort` when less is available."""
    try:
        balance.hold(ref_id=order.ref_id, order_kind=order.kind, amount=order.max_price, actor=actor)
    except NotEnough as short:
        raise BalanceShort(price=short.amount, available=short.available) from short


def note_claim(order: Order) -> None:
    """The order is about to be sent: from now on it may be charged."""
    if order.sent_at is not None:
        balance.note_sent(ref_id=order.ref_id, order_kind=order.kind, amount=order.max_price, at=order.sent_at)


def keep_books(order: Order, *, before: Status, is_report: bool, is_answer: bool, actor: User | None) -> None:
    """Post what the move from `before` to the order's present status does.

    `is_report`: the upstream said so of a transaction that it has. `is_answer`: it answered our sending.
    """
    ref_id, kind = order.ref_id, order.kind
    if is_report:
        price = order.shown_price
        balance.note_charged(ref_id=ref_id, order_kind=kind, amount=price, sent_at=order.sent_at)
        balance.debit(ref_id=ref_id, order_kind=kind, amount=price)
        if order.status == Status.FAILED:
            balance.refund(ref_id=ref_id, order_kind=kind)
        if order.is_final:
            balance.note_ended(ref_id=ref_id, refunded=order.status == Status.FAILED)
    elif order.is_final:
        balance.note_never_charged(ref_id=ref_id)
        balance.release(ref_id=ref_id, order_kind=kind, actor=actor, reason=order.status)
    elif order.status == Status.HELD and order.hold_reason == HoldReason.NEVER_ARRIVED:
        # The money may be gone: the hold stays until a person decides.
        balance.note_parked(ref_id=ref_id)
    elif order.status == Status.HELD:
        balance.note_not_charged(ref_id=ref_id, sent_at=order.sent_at)
        balance.release(ref_id=ref_id, order_kind=kind, actor=actor, reason=order.hold_reason)
    elif order.status == Status.QUEUED and before == Status.HELD:
        hold(order, actor=actor)
    elif order.status == Status.QUEUED and is_answer:
        balance.note_not_charged(ref_id=ref_id, sent_at=order.sent_at)
