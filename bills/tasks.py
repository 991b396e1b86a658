"""What the workers do about bill checks. Each is safe to run twice, late, or not at all."""

from celery import shared_task

from bills import services
from upstream.budget import CallClass


@shared_task
def inquire_now(check_id: int) -> None:
    """Ask the biller: a person waits."""
    services.inquire(check_id, call_class=CallClass.INTERACTIVE)


@shared_task
def inquire_due(check_id: int) -> None:
    """Ask the biller about a check that the sweep found."""
    services.inquire(check_id, call_class=CallClass.BACKGROUND)
