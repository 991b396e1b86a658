"""The one sweep: what falls due in any room is handed to the workers, whatever message was lost."""

from celery import shared_task

from bills.services import DUE_CHECKS, EXPIRED_PAYMENTS
from callbacks.services import DUE_CALLBACKS
from gateway import polling
from purchases.services import DUE_ORDERS


@shared_task
def sweep() -> None:
    """Hand out what is due: orders, bill checks and callbacks, in fair shares of the rate budget."""
    polling.sweep([DUE_ORDERS, DUE_CHECKS, EXPIRED_PAYMENTS, DUE_CALLBACKS])
