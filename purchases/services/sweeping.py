"""Find in the database what is due, so that a lost message, a crash or a restart changes only the time."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from core import clock
from core.publish import publish
from gateway import polling
from purchases.models import Order
from purchases.states import Status


def hand_out(limit: int) -> int:
    """Hand up to `limit` due orders to the background worker, oldest due first; return how many.

    Each is leased: if its task is lost, the first sweep after the lease finds it again.
    """
    with transaction.atomic():
        due = list(Order.objects.select_for_update(skip_locked=True).due(clock.now())[:limit])
        Order.objects.filter(pk__in=[order.pk for order in due]).update(
            next_poll_at=polling.in_seconds(settings.ORDER_LEASE_SECONDS)
        )
    for order in due:
        publish(f"purchases.tasks.{'resubmit_order' if order.status == Status.QUEUED else 'poll_order'}", order.pk)
    return len(due)


DUE_ORDERS = polling.Due(exists=lambda: Order.objects.due(clock.now()).exists(), hand_out=hand_out)
