"""The one door to a status: every order is stored here, and moves here, with its event and its entries in the books.

Lock order, everywhere: the bill's check, the order, what hangs on it (events, incidents, verdicts), the books. One
order is locked at a time, but by the sweep, which skips locked rows.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core import clock
from gateway.line import ring_when_committed
from gateway.polling import in_seconds, next_poll_at
from gateway.services import next_number
from purchases.models import Order, OrderEvent
from purchases.services.bookkeeping import post_entries
from purchases.states import FINAL, POLLED, ActionReason, Status

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Who or what moves an order, as its timeline keeps it. `facts`: what our own words are made of."""

    source: OrderEvent.Source
    actor: User | None = None
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] | None = None
    callback_id: int | None = None


def lock_order_for_move(order_id: int) -> Order:
    """The order, locked until the transaction ends."""
    return Order.objects.select_for_update().get(pk=order_id)


def store(order: Order) -> None:
    """Insert a new order, queued or in need of action. Raises `BalanceShort` if it cannot be reserved for."""
    cause = Cause(source=OrderEvent.Source.STAFF, actor=order.placed_by)
    with transaction.atomic():
        order.save(force_insert=True)
        _record(order, None, cause)


def move(order: Order, to: Status, cause: Cause, *, wait: float | None = None, **facts: Any) -> None:
    """Bring a locked order to `to`, with the columns in `facts`; due again in `wait` seconds, else by its status.

    The caller has checked that the order may move so; the database refuses it otherwise. Raises `BalanceShort` when an
    order is queued again that is more than available.
    """
    before = Status(order.status)
    order.status = to
    order.action_reason = ""
    for name, value in facts.items():
        setattr(order, name, value)
    if to in FINAL:
        order.final_at, order.ended_no = timezone.now(), next_number()
    order.next_poll_at = _next_poll_at(order, wait)
    order.save()
    ring_when_committed(order.next_poll_at)
    _record(order, before, cause)
    log.info("order_moved", ref_id=order.ref_id, before=str(before), after=order.status, source=str(cause.source))


def _record(order: Order, before: Status | None, cause: Cause) -> None:
    OrderEvent.objects.create(
        order=order,
        from_status=before or "",
        to_status=order.status,
        source=cause.source,
        actor=cause.actor,
        note=cause.note[:500],
        facts=cause.facts,
        raw=cause.raw,
        callback_id=cause.callback_id,
    )
    post_entries(order, before=before, actor=cause.actor)


def _next_poll_at(order: Order, wait: float | None) -> dt.datetime | None:
    if wait is not None:
        return in_seconds(wait)
    if order.status == Status.QUEUED:
        return clock.now()
    if order.action_reason == ActionReason.NEVER_ARRIVED:
        return in_seconds(settings.ORDER_CHECK_MAX_SECONDS)
    return next_poll_at(order.polls) if order.status in POLLED else None
