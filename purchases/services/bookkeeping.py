"""What each move of an order's life does to the books, in the transaction of the move.

Reserved from the queue until the upstream has said yes or no; debited when it reports the order; refunded when it
reports a failure; reversed when it takes a success back. An order without a reservation is tolerated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ledger import services as ledger
from ledger.errors import NotEnough
from purchases.errors import BalanceShort
from purchases.models import Order
from purchases.states import Status

if TYPE_CHECKING:
    from staff.models import User


def post_entries(order: Order, *, before: Status | None, actor: User | None) -> None:
    """Post what the move from `before` (None: placed) to the order's present status does to the books.

    Raises `BalanceShort` when it is queued and less than its confirmed price is available.
    """
    if order.status == Status.QUEUED and before not in {None, Status.NEEDS_ACTION}:
        return  # certainly not sent, or to be sent again: what is reserved stays so
    if post := _POSTS.get(Status(order.status)):
        post(order, actor)


def _reserve(order: Order, actor: User | None) -> None:
    try:
        ledger.reserve(ref_id=order.ref_id, order_kind=order.kind, amount=order.max_price, actor=actor)
    except NotEnough as short:
        raise BalanceShort(price=short.amount, available=short.available) from short


def _release(order: Order, actor: User | None) -> None:
    reason = order.action_reason or order.status
    ledger.release(ref_id=order.ref_id, order_kind=order.kind, actor=actor, reason=reason)


def _release_unless_charged(order: Order, actor: User | None) -> None:
    # What seems never to have arrived may be charged: its reservation stays until a person decides.
    if not order.may_be_charged:
        _release(order, actor)


def _debit(order: Order, _actor: User | None) -> None:
    ledger.debit(ref_id=order.ref_id, order_kind=order.kind, amount=order.shown_price, actor=order.placed_by)


def _refund(order: Order, actor: User | None) -> None:
    """What the upstream has reported was debited at once. What it never reported has cost nothing."""
    if order.accepted_no is not None:
        _debit(order, actor)
    if not ledger.refund(ref_id=order.ref_id, order_kind=order.kind, actor=order.placed_by):
        _release(order, actor)


def _reverse(order: Order, actor: User | None) -> None:
    _debit(order, actor)
    ledger.reverse(ref_id=order.ref_id, order_kind=order.kind, actor=actor, reason=order.status)


_POSTS: dict[Status, Callable[[Order, User | None], None]] = {
    Status.QUEUED: _reserve,
    Status.PENDING: _debit,
    Status.SUCCESS: _debit,
    Status.FAILED: _refund,
    Status.REVERSED: _reverse,
    Status.NEEDS_ACTION: _release_unless_charged,
    Status.REJECTED: _release,
    Status.CANCELLED: _release,
    Status.CLOSED: _release,
}
