"""Finds due orders in the database, so that a lost message, a crash or a restart changes only the time."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from core import clock
from gateway import line, polling
from gateway.dispatching import Due
from gateway.line import Work
from purchases.models import Order
from purchases.states import Status

SUBMIT, POLL = "purchases.tasks.submit_order", "purchases.tasks.poll_order"
# The sweep never finds work for these tasks: no order is due for them.
ASK_ANYWAY, POLL_BY_HAND = "purchases.tasks.ask_anyway", "purchases.tasks.poll_by_hand"


def take_due(limit: int) -> list[Work]:
    """Lease up to `limit` due orders, oldest due first, and return what is to be done about them."""
    with transaction.atomic():
        due = list(Order.objects.select_for_update(skip_locked=True).due(clock.now())[:limit])
        Order.objects.filter(pk__in=[order.pk for order in due]).update(
            next_poll_at=polling.in_seconds(settings.ORDER_LEASE_SECONDS)
        )
    return [Work(SUBMIT if order.status == Status.QUEUED else POLL, order.pk) for order in due]


def longest_wait(order: Order) -> float | None:
    """The longest wait of a queued order in a person's line (seconds); None if that is unknown."""
    return line.longest_wait(Work(SUBMIT, order.pk)) if order.status == Status.QUEUED else None


def _earliest() -> QuerySet[Any]:
    return Order.objects.filter(next_poll_at__isnull=False).order_by("next_poll_at").values_list("next_poll_at")


DUE_ORDERS = Due(earliest=_earliest, take=take_due, tasks=(SUBMIT, POLL))
