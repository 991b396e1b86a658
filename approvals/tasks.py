"""The workers' tasks about approvals. Safe to run twice, late, or not at all: an overdue one is never approved."""

from celery import shared_task

from approvals import services


@shared_task
def expire_overdue() -> None:
    """End what nobody has decided in time."""
    services.expire_overdue()
