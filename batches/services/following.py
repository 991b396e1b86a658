"""Follow a batch in the foreground, as the command does, with or without workers beside."""

from __future__ import annotations

import time

from batches.models import Batch
from batches.services.placing import place_rows
from bills.models import BillCheck
from bills.services import inquire
from core import clock
from purchases.models import Order
from purchases.services import poll, submit
from purchases.states import OPEN, POLLED, Status
from upstream.budget import CallClass

_LOOK_EVERY_SECONDS = 0.5


def follow(batch: Batch, *, seconds: float) -> Batch:
    """Wait up to `seconds` until each row has its end or needs a person, doing what falls due; return it then."""
    until = time.monotonic() + seconds
    batch.refresh_from_db()
    while not is_over(batch) and time.monotonic() < until:
        if batch.next_at and batch.next_at <= clock.now():
            place_rows(batch.pk)
        checks = BillCheck.objects.filter(batch_rows__batch=batch).due(clock.now())
        for check in checks:
            inquire(check.pk, call_class=CallClass.BACKGROUND)
        for order in Order.objects.filter(batch_row__batch=batch, next_poll_at__lte=clock.now()).order_by(
            "next_poll_at"
        ):
            if order.status == Status.QUEUED:
                submit(order.pk, call_class=CallClass.BACKGROUND)
            elif order.status in POLLED:
                poll(order.pk, call_class=CallClass.BACKGROUND)
        time.sleep(min(_LOOK_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        batch.refresh_from_db()
    return batch


def is_over(batch: Batch) -> bool:
    """Whether nothing of it changes by itself any more: checked, paused, or at its end with each order."""
    if batch.next_at is not None:
        return False
    moving = OPEN - {Status.NEEDS_ACTION}
    return not batch.rows.filter(order__status__in=sorted(moving)).exists()
