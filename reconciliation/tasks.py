"""The tasks of beat and of the buttons about the balance."""

import structlog
from celery import shared_task

from gateway import services as gateway
from reconciliation import services
from reconciliation.models import ReconciliationRun
from reconciliation.services import on_demand
from upstream.budget import CallClass
from upstream.errors import UpstreamError

log = structlog.get_logger()


@shared_task
def read_balance(_reading: int | None = None) -> None:
    """Ask for the balance once and compare it with the books; beat asks again within the minute after a fault.

    A new shop's first request goes as soon as possible: it shows whether the credentials are right.
    """
    if _is_read(CallClass.BACKGROUND):
        services.reconcile(ReconciliationRun.Trigger.READING)


@shared_task
def read_for_person() -> None:
    """Ask for the balance as a person's request, and compare then, also with an older balance if there is no new one.

    The orders that the result waits for are polled.
    """
    _is_read(CallClass.INTERACTIVE)
    on_demand.reconcile_books(ReconciliationRun.Trigger.PERSON)


def _is_read(call_class: CallClass) -> bool:
    """Ask for the balance once; return whether it was reported."""
    try:
        gateway.read_balance(call_class=call_class)
    except UpstreamError as error:
        log.warning("balance_not_read", fault=type(error).__name__, reason=str(error))
        if first := gateway.first_request_at():
            services.read_again_at(first)
        return False
    return True


@shared_task
def prove_books() -> None:
    """Close the days that are over, and prove every entry: once a night, and when a person asks."""
    services.prove(everything=True)


@shared_task
def reconcile_books() -> None:
    """Compare the books with the upstream."""
    on_demand.reconcile_books()
