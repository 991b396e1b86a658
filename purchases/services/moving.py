"""The only door to a status: every order is stored here, and moves here, with its event and its entries in the books.

Lock order, everywhere: a batch, the bill's check, the order, its payment, a shift, an account, the person who spends
(`limits`), the trx_id (`trx_ids`), the SN (`serials`), the order's other rows (events, incidents, verdicts), the books.
Several orders are locked in the order of their keys, or locked ones are skipped. The books come last: see
`ledger.services.posting`.
"""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from core import clock
from core.bulk import insert_row, insert_rows, read_rows, update_rows
from drawers import services as drawers
from drawers.services import Ending, PaymentFacts
from gateway.line import ring_when_committed
from gateway.models import NEXT_NUMBER
from gateway.polling import in_seconds, next_poll_at
from ledger import services as ledger
from ledger.errors import NotEnough
from purchases.errors import BalanceShort
from purchases.models import Order, OrderEvent
from purchases.services.bookkeeping import steps_of
from purchases.services.health import recount_when_committed
from purchases.services.limits import refuse_beyond_limits
from purchases.states import FINAL, POLLED, ActionReason, Status
from staff.models import User

log = structlog.get_logger()

# The columns that a move may change; the rest of an order stays as placed.
_CHANGING = (
    *("status", "action_reason", "error_code", "message", "trx_id", "sn", "sn_by_hand", "price", "max_price"),
    "selling_price",
    *("sent_at", "final_at", "attempt", "sent_no", "accepted_no", "pending_no", "ended_no"),
    *("polls", "not_found_count", "not_found_since", "next_poll_at"),
)

# `NEXT_NUMBER` in plain SQL.
_NUMBER = "nextval(pg_get_serial_sequence('gateway_exchange', 'id'))"


@dataclass(frozen=True, kw_only=True)
class Cause:
    """The person or event that moves an order, as its timeline keeps it. `facts`: the values in our own words."""

    source: OrderEvent.Source
    actor: User | None = None
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] | None = None
    callback_id: int | None = None


@dataclass(frozen=True)
class Move:
    """An order that has moved from `before` (None: placed), as it is to be written."""

    order: Order
    before: Status | None
    cause: Cause


def lock_order_for_move(order_id: int, **more: str) -> Order:
    """The order, locked until the transaction ends, with a number that was taken with the lock (`locked_no`).

    `more`: SQL of values that are read with the lock.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock lasts no longer than its transaction")
    for order in read_rows(Order, "WHERE id = %s FOR UPDATE", [order_id], locked_no=_NUMBER, **more):
        return order
    raise Order.DoesNotExist


def lock_orders_for_move(ref_ids: Collection[str]) -> dict[str, Order]:
    """These orders by their ref_id, locked as above; unknown ones are left out."""
    locked = Order.objects.select_for_update().annotate(locked_no=NEXT_NUMBER)  # type: ignore[no-redef]
    return {order.ref_id: order for order in locked.filter(ref_id__in=ref_ids).order_by("pk")}


def keep_orders(ref_ids: Collection[str]) -> dict[str, Order]:
    """These orders by their ref_id, none of which moves until the transaction ends; unknown ones are left out.

    For rows that will name them: a foreign key locks its order only at the commit, when the books are already held.
    """
    kept = read_rows(Order, "WHERE ref_id = ANY(%s) ORDER BY id FOR KEY SHARE", [list(ref_ids)]) if ref_ids else []
    return {order.ref_id: order for order in kept}


def store(order: Order, payment: PaymentFacts, facts: dict[str, Any] | None = None, *, note: str = "") -> None:
    """Insert a new order, queued or in need of action, with its payment.

    `facts`: the values in our own words about its first event. `note`: the person's words in it. Raises `LimitReached`
    if it is beyond what its person may spend, `BalanceShort` if its price cannot be reserved, and the errors of
    `drawers.services.take_payment`.
    """
    with transaction.atomic():
        order.payment = drawers.take_payment(
            order.ref_id,
            destination=order.destination,
            amount=order.customer_pays,
            seller=order.placed_by,
            facts=payment,
        )
        refuse_beyond_limits(order.placed_by, order.max_price, key=order.idempotency_key)
        insert_row(order)
        cause = Cause(source=OrderEvent.Source.STAFF, actor=order.placed_by, note=note, facts=facts or {})
        _write([Move(order, None, cause)])


def store_sent(order: Order, *, facts: dict[str, Any]) -> None:
    """Insert an order that was sent before this database knew it, as "outcome not known yet". Its payment is stored.

    Its price is reserved even if less is available: it may be charged already.
    """
    insert_row(order)
    _write([Move(order, None, Cause(source=OrderEvent.Source.SUBMIT, facts=facts))])


def move(order: Order, to: Status, cause: Cause, *, wait: float | None = None, **facts: Any) -> None:
    """Bring a locked order to `to`, with the columns in `facts`; due again in `wait` seconds, else by its status.

    The caller has checked that the order may move so; the database refuses it otherwise. Raises `BalanceShort` if the
    order is queued again and costs more than the available balance.
    """
    write([begin(order, to, cause, wait=wait, **facts)])


def begin(order: Order, to: Status, cause: Cause, *, wait: float | None = None, **facts: Any) -> Move:
    """As `move`, but nothing is written yet: hand all moves of the transaction to `write`."""
    if strange := facts.keys() - set(_CHANGING):
        raise TypeError(f"a move does not change {sorted(strange)}")
    before = Status(order.status)
    order.status = to
    order.action_reason = ""
    for name, value in facts.items():
        setattr(order, name, value)
    if to in FINAL:
        order.final_at, order.ended_no = timezone.now(), order.locked_no
    order.next_poll_at = _next_poll_at(order, wait)
    return Move(order, before, cause)


def write(moves: Sequence[Move]) -> None:
    """Write moves of different orders, with one statement each for orders, payments, timelines and, last, the books."""
    update_rows([move.order for move in moves], _CHANGING)
    drawers.end_payments([_ending(move.order) for move in moves if move.order.final_at])
    _write(moves)
    recount_when_committed([move.order.status for move in moves])
    for move in moves:
        ring_when_committed(move.order.next_poll_at)
        source, after = str(move.cause.source), move.order.status
        log.info("order_moved", ref_id=move.order.ref_id, before=str(move.before), after=after, source=source)


def _ending(order: Order) -> Ending:
    cost = order.shown_price if order.status == Status.SUCCESS else None
    return Ending(order.payment_id, order.final_at or clock.now(), cost)


def _write(moves: Sequence[Move]) -> None:
    insert_rows(
        [
            OrderEvent(
                order=move.order,
                from_status=move.before or "",
                to_status=move.order.status,
                source=move.cause.source,
                actor_id=_id(move.cause.actor),
                note=move.cause.note[:500],
                facts=move.cause.facts,
                raw=move.cause.raw,
                callback_id=move.cause.callback_id,
            )
            for move in moves
        ]
    )
    try:
        ledger.post(
            [
                step
                for move in moves
                for step in steps_of(move.order, before=move.before, actor_id=_id(move.cause.actor))
            ]
        )
    except NotEnough as short:
        raise BalanceShort(price=short.amount, available=short.available) from short


def _id(actor: User | None) -> int | None:
    return actor.pk if actor else None


def _next_poll_at(order: Order, wait: float | None) -> dt.datetime | None:
    if wait is not None:
        return in_seconds(wait)
    if order.status == Status.QUEUED:
        return clock.now()
    if order.action_reason == ActionReason.NEVER_ARRIVED:
        return in_seconds(settings.ORDER_CHECK_MAX_SECONDS)
    return next_poll_at(order.polls) if order.status in POLLED else None
