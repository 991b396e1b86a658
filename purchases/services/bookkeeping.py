"""The effect of each move of an order on the books, in the transaction of the move.

The price is reserved from the queue until the upstream has said yes or no, debited when it reports the order, refunded
when it reports a failure, and reversed when it takes a success back. An order without a reservation is tolerated.
"""

from ledger.models import Entry
from ledger.services import Step
from purchases.models import Order
from purchases.states import Status

_RELEASED = frozenset({Status.REJECTED, Status.CANCELLED, Status.CLOSED})


def steps_of(order: Order, *, before: Status | None, actor_id: int | None) -> list[Step]:
    """The effect of the move from `before` (None: placed) to the order's present status on the books.

    A debit and a refund name the order's cashier; every other entry names the person who acted (`actor_id`).
    """
    status, seller = Status(order.status), order.placed_by_id
    is_taken_in = before is None and status == Status.UNKNOWN
    if is_taken_in or (status == Status.QUEUED and before in {None, Status.NEEDS_ACTION}):
        # An order that is queued from another status keeps its reservation: it was not sent, or is to be sent again.
        is_new, amount = before is None, order.max_price
        return [_step(order, Entry.Kind.HOLD, actor_id, amount=amount, is_new=is_new, is_sent=is_taken_in)]
    if status in {Status.PENDING, Status.SUCCESS}:
        # A pending order was debited when it became pending.
        return [] if before == Status.PENDING else [_debit(order, seller)]
    if status == Status.FAILED:
        # An order that the upstream has reported was debited at once. An order that it never reported has cost nothing.
        debited = [_debit(order, seller)] if order.accepted_no is not None else []
        return [*debited, _step(order, Entry.Kind.REFUND, seller), _release(order, actor_id)]
    if status == Status.REVERSED:
        return [_debit(order, seller), _step(order, Entry.Kind.REVERSAL, actor_id, reason=status)]
    # An order that seems never to have arrived may be charged: its reservation stays until a person decides.
    if status in _RELEASED or (status == Status.NEEDS_ACTION and not order.may_be_charged):
        return [_release(order, actor_id)]
    return []


def _debit(order: Order, seller: int | None) -> Step:
    return _step(order, Entry.Kind.DEBIT, seller, amount=order.shown_price)


def _release(order: Order, actor_id: int | None) -> Step:
    return _step(order, Entry.Kind.RELEASE, actor_id, reason=order.action_reason or order.status)


def _step(
    order: Order,
    kind: Entry.Kind,
    actor_id: int | None,
    *,
    amount: int = 0,
    reason: str = "",
    is_new: bool = False,
    is_sent: bool = False,
) -> Step:
    return Step(
        kind=kind,
        ref_id=order.ref_id,
        order_kind=order.kind,
        amount=amount,
        actor_id=actor_id,
        reason=reason,
        is_new=is_new,
        is_sent=is_sent,
    )
