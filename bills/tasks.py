"""What the workers do about bill checks. Each is safe to run twice, late, or not at all."""

from celery import shared_task

from bills import services
from upstream.budget import CallClass


@shared_task
def ask_now(check_id: int) -> None:
    """Ask the biller: a person waits."""
    services.ask(check_id, call_class=CallClass.INTERACTIVE)


@shared_task
def ask_again(check_id: int) -> None:
    """Ask about a check that the sweep found."""
    services.ask(check_id, call_class=CallClass.BACKGROUND)


@shared_task
def sweep_checks() -> None:
    """Hand out what is due."""
    services.sweep_checks()
