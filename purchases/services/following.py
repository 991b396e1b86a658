"""Follow an order in the foreground, as the commands do, with or without workers beside."""

from __future__ import annotations

import time

from core import clock
from purchases.models import Order
from purchases.services.polling import poll
from purchases.services.sending import submit
from purchases.states import POLLED, Status
from upstream.budget import CallClass

_LOOK_EVERY_SECONDS = 0.25


def follow(order: Order, *, seconds: float) -> Order:
    """Wait up to `seconds` until the order is final or needs action, doing what falls due for it; return it then."""
    until = time.monotonic() + seconds
    order.refresh_from_db()
    while not order.is_final and order.status != Status.NEEDS_ACTION and time.monotonic() < until:
        time.sleep(min(_LOOK_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        order.refresh_from_db()
        if order.next_poll_at is None or order.next_poll_at > clock.now():
            continue
        if order.status == Status.QUEUED:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        elif order.status in POLLED:
            poll(order.pk, call_class=CallClass.INTERACTIVE)
        order.refresh_from_db()
    return order
