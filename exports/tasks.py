"""The worker's own tasks about files."""

from celery import shared_task

from exports import services


@shared_task
def tidy_exports() -> None:
    """Forget old files, and take up those whose worker was killed."""
    services.tidy_exports()
