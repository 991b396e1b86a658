"""Compare the books with the upstream, and hurry what the comparison waits for."""

from __future__ import annotations

import time

from django.utils import timezone

from balance import services as balance
from balance.models import ReconciliationRun
from purchases.models import Order
from purchases.services.checking import check
from purchases.services.waiting import queue_waiting_orders
from upstream.budget import CallClass
from upstream.errors import UpstreamError

# A run asks for the status of no more orders than this at once: the rate budget is there for the cashiers, too.
_ASK_AT_MOST = 20
_LOOK_EVERY_SECONDS = 1.0


def reconcile_books(trigger: str = ReconciliationRun.Trigger.BEAT) -> ReconciliationRun:
    """Reconcile, hurry what keeps a difference from being final, queue the orders that waited for a top-up."""
    run = balance.reconcile(trigger)
    if run.difference != balance.open_differences_total():
        # Something is not explained yet: what it depends on comes first.
        hurry(run.blocking)
        balance.request_balance_reading()
    queue_waiting_orders()
    return run


def hurry(ref_ids: list[str]) -> int:
    """Have the sweep ask for the status of these orders now, the least often asked first; return how many."""
    chosen = Order.objects.asked_about().filter(ref_id__in=ref_ids).order_by("checks", "sent_at")
    return Order.objects.filter(pk__in=list(chosen.values_list("pk", flat=True)[:_ASK_AT_MOST])).update(
        next_check_at=timezone.now()
    )


def reconcile_now(*, seconds: float) -> tuple[ReconciliationRun, str]:
    """Read the balance, ask about the orders that it depends on, and reconcile, for up to `seconds` until it is final.

    Returns the last run, and the fault if the balance could not be read. Works with or without workers beside.
    """
    until = time.monotonic() + seconds
    while True:
        fault = ""
        try:
            balance.read_balance()
        except UpstreamError as error:
            fault = str(error) or type(error).__name__
        run = balance.reconcile(ReconciliationRun.Trigger.PERSON)
        if run.blocking and not fault:
            for order in Order.objects.asked_about().filter(ref_id__in=run.blocking)[:_ASK_AT_MOST]:
                check(order.pk, call_class=CallClass.INTERACTIVE)
            run = balance.reconcile(ReconciliationRun.Trigger.PERSON)
        if not run.blocking or fault or time.monotonic() > until:
            queue_waiting_orders()
            return run, fault
        time.sleep(_LOOK_EVERY_SECONDS)
