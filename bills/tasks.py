"""The workers' tasks about bill checks. Each is safe to run twice, late, or not at all."""

from celery import shared_task

from bills import services
from upstream.budget import CallClass


@shared_task
def take_in_lost() -> None:
    """After a restore: take in the orders that had to wait."""
    services.take_in_lost()


@shared_task
def inquire(check_id: int, permit_id: str = "") -> bool:
    """Ask the biller, with the permit that was booked for it. False: put back (`backoffice/celery.py`)."""
    return services.inquire(check_id, call_class=CallClass.BACKGROUND, permit_id=permit_id)
