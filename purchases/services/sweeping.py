"""Find in the database what is due, so that a lost message, a crash or a restart changes only the time."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from backoffice.publish import publish
from balance.services import sending_is_stopped
from purchases.models import Order
from purchases.order_life import Status
from purchases.services import timing
from upstream.client import get_client
from upstream.errors import UpstreamError

# How often the schedule in backoffice/celery.py has it run.
SWEEP_EVERY_SECONDS = 0.5
# However much the budget lets through, one sweep takes no more than this.
_AT_MOST = 20


def sweep() -> int:
    """Hand due orders to the background worker, oldest due first; return how many.

    It takes only what the rate budget lets through until the next sweep, so that no task ever waits for the
    budget. Each taken order is leased: if its task is lost, the first sweep after the lease finds it again.
    """
    from purchases import tasks

    if not Order.objects.due(timezone.now()).exists() or sending_is_stopped():
        return 0
    try:
        allowance = min(get_client().budget.background_allowance(within_seconds=SWEEP_EVERY_SECONDS), _AT_MOST)
    except UpstreamError:
        return 0
    if allowance <= 0:
        return 0
    with transaction.atomic():
        due = list(Order.objects.select_for_update(skip_locked=True).due(timezone.now())[:allowance])
        Order.objects.filter(pk__in=[order.pk for order in due]).update(
            next_check_at=timing.in_seconds(settings.ORDER_LEASE_SECONDS)
        )
    for order in due:
        task = tasks.resubmit_order if order.status == Status.QUEUED else tasks.check_order
        publish(task, order.pk)
    return len(due)
