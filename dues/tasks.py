"""The task of beat about bills that come each month."""

from celery import shared_task

from dues import services


@shared_task
def check_due_bills() -> None:
    """Have the bills checked whose day has come, and end paid ones."""
    services.sweep()
