"""A clock that was ahead: what it dated into the future is brought back, so that it blinds nobody until then."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import structlog
from django.db import models
from django.db.models import Max, Q

from balance.engine import State
from balance.models import Reading, Spending

log = structlog.get_logger()

# Dated by a clock that was ahead, and not by another process a moment ago.
_AHEAD = dt.timedelta(seconds=5)


def bring_back(state: State, now: dt.datetime) -> State:
    """The state without a time that is still to come; what is stored of orders is put right likewise.

    Readings from the future are given up: nobody knows when they were true. Call it under the reconciliation's lock.
    """
    future = now + _AHEAD
    readings = Reading.objects.of_their_time().filter(received_at__gt=future)
    orders = Spending.objects.filter(
        Q(sent_at__gt=future) | Q(known_at__gt=future) | Q(pending_seen_at__gt=future) | Q(refund_known_at__gt=future),
        settled_at__isnull=True,
    )
    if state.upto <= future and not readings.exists() and not orders.exists():
        return state
    upto = _last_before(readings, now) if state.upto > future else state.upto
    log.warning("the_clock_was_ahead", readings=readings.count(), orders=orders.count(), compared_upto=str(upto))
    for order in orders:
        # Each to the side that claims less: sent early, known late.
        order.sent_at = min(order.sent_at, upto)
        order.known_at = order.known_at and min(order.known_at, now)
        order.refund_known_at = order.refund_known_at and min(order.refund_known_at, now)
        order.pending_seen_at = order.pending_seen_at and min(order.pending_seen_at, upto)
        order.save()
    readings.update(source=Reading.Source.PAST)
    return replace(
        state,
        upto=upto,
        compared_upto=min(state.compared_upto, upto),
        exact_at=min(state.exact_at, upto),
        changed_at=state.changed_at and min(state.changed_at, upto),
    )


def _last_before(future: models.QuerySet[Reading], now: dt.datetime) -> dt.datetime:
    """The end of the last reading that was stored before the clock went ahead."""
    before = Reading.objects.of_their_time().filter(received_at__lte=now)
    if first := future.order_by("pk").first():
        before = before.filter(pk__lt=first.pk)
    last: dt.datetime | None = before.aggregate(last=Max("received_at"))["last"]
    return last or now
