"""Queues orders that wait for a top-up, when enough is available."""

from django.db import transaction
from django.db.models import Exists, OuterRef

from gateway.models import Exchange
from gateway.services import latest_reading
from ledger.services import available
from purchases.errors import BalanceShort
from purchases.models import Order
from purchases.services.resolving import requeue
from purchases.states import ActionReason, Status

_AT_MOST = 50


def wait_no_longer() -> None:
    """In a database that was just restored: no order waits for a top-up any more, and a person decides about each.

    Since the backup it may have been sent, or cancelled and its money given back.
    """
    waiting = Order.objects.filter(status=Status.NEEDS_ACTION, waits_for_topup=True)
    waiting.update(waits_for_topup=False)


def queue_waiting_orders() -> int:
    """Queue the orders that wait for a top-up and can be paid now, oldest first; return how many.

    An order that the upstream itself refused waits for a newer balance that covers it.
    """
    waiting = Order.objects.filter(
        status=Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, waits_for_topup=True
    )
    reading = latest_reading() if waiting.exists() else None
    if reading is None or available() is None:
        return 0
    sent_since = Exchange.objects.of_order(OuterRef("ref_id")).filter(pk__gt=reading.pk)
    waiting = waiting.filter(~Exists(sent_since), max_price__lte=reading.balance)
    queued = 0
    for order_id in waiting.order_by("created_at", "pk").values_list("pk", flat=True)[:_AT_MOST]:
        try:
            with transaction.atomic():
                order = waiting.select_for_update(skip_locked=True).filter(pk=order_id).first()
                if order is not None:
                    requeue(order, max_price=order.max_price, actor=None)
                    queued += 1
        except BalanceShort:
            continue
    return queued
