"""The worker's own tasks about accounts."""

from celery import shared_task

from staff.services.tidying import clear_ended


@shared_task
def clear_ended_sessions() -> None:
    """Delete expired sessions and counters."""
    clear_ended()
