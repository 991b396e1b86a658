"""The tasks of beat and of the buttons about the balance."""

import structlog
from celery import shared_task

from gateway import services as gateway
from reconciliation import services
from reconciliation.models import ReconciliationRun
from reconciliation.services import on_demand
from upstream.errors import UpstreamError

log = structlog.get_logger()


@shared_task
def read_balance(_reading: int | None = None) -> None:
    """Ask for the balance once and compare it with the books; beat asks again within the minute after a fault.

    A new shop's first request goes as soon as it may: it shows whether the credentials are right.
    """
    try:
        gateway.read_balance()
    except UpstreamError as error:
        log.warning("balance_not_read", fault=type(error).__name__, reason=str(error))
        if first := gateway.first_request_at():
            services.read_again_at(first)
    else:
        services.reconcile(ReconciliationRun.Trigger.READING)


@shared_task
def prove_books() -> None:
    """Close the days that are over, and prove every entry: once a night, and when a person asks."""
    services.prove(everything=True)


@shared_task
def reconcile_books() -> None:
    """Compare the books with the upstream."""
    on_demand.reconcile_books()
