"""What beat and the button have done about the balance."""

import structlog
from celery import shared_task

from balance import services
from balance.models import ReconciliationRun
from balance.services import telling
from upstream.errors import UpstreamError

log = structlog.get_logger()


@shared_task
def evaluate_alerts() -> None:
    """Open and close alerts, and tell what is due by e-mail and webhook; what fails is tried again the next time."""
    services.evaluate_alerts()
    telling.tell_alerts()


@shared_task
def read_balance() -> None:
    """Ask for the balance once and compare it with the books.

    A fault is noted (see `watching_account`) and beat asks again within the minute.
    """
    try:
        services.read_balance()
    except UpstreamError as error:
        log.warning("balance_not_read", fault=type(error).__name__, reason=str(error))
    else:
        services.reconcile(ReconciliationRun.Trigger.READING)
