"""Compares the books with the upstream, and first polls the orders that the comparison waits for."""

import time

from core import clock
from gateway import services as gateway
from gateway.line import ring_when_committed
from ledger.services import books
from purchases.models import Order
from purchases.services.polling import poll
from purchases.services.waiting import queue_waiting_orders
from reconciliation.models import ReconciliationRun
from reconciliation.services.proving import prove
from reconciliation.services.reconciling import Result, Trigger, reconcile
from upstream.budget import CallClass
from upstream.errors import UpstreamError

# A run polls no more orders than this at once: the cashiers need the rate budget, too.
_POLL_AT_MOST = 20
_LOOK_EVERY_SECONDS = 1.0
_UNDECIDED = frozenset({Result.PROVISIONAL, Result.WAITING})


def reconcile_books(trigger: str = Trigger.BEAT) -> ReconciliationRun:
    """Reconcile, poll the orders that block a final difference, and queue the orders that waited for a top-up."""
    run = reconcile(trigger)
    if run.blocking and run.difference != books().found:
        poll_soon(run.blocking)
    queue_waiting_orders()
    return run


def poll_soon(ref_ids: list[str]) -> int:
    """Have a worker ask for the status of these orders now, the least often polled first; return how many."""
    polled = Order.objects.polled()
    chosen = polled.filter(ref_id__in=ref_ids).order_by("polls", "sent_at")
    now = clock.now()
    ring_when_committed(now)
    # `polled` again: one of them may end meanwhile
    return polled.filter(pk__in=list(chosen.values_list("pk", flat=True)[:_POLL_AT_MOST])).update(next_poll_at=now)


def reconcile_now(*, seconds: float) -> tuple[ReconciliationRun, str]:
    """Prove all books, read the balance, poll the orders that it depends on, and reconcile until it is final.

    `seconds`: the longest wait for open orders.

    Returns the last run, and the fault if the balance could not be read. Works with or without running workers.
    """
    prove(everything=True)
    until = time.monotonic() + seconds
    while True:
        fault = ""
        try:
            gateway.read_balance()
        except UpstreamError as error:
            fault = str(error) or type(error).__name__
        run = reconcile(Trigger.PERSON)
        if run.blocking and not fault:
            for order in Order.objects.polled().filter(ref_id__in=run.blocking)[:_POLL_AT_MOST]:
                poll(order.pk, call_class=CallClass.INTERACTIVE)
            run = reconcile(Trigger.PERSON)
        is_final = not run.blocking and run.state not in _UNDECIDED
        if is_final or fault or time.monotonic() > until:
            queue_waiting_orders()
            return run, fault
        time.sleep(_LOOK_EVERY_SECONDS)
