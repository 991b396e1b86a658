"""The worker's task about batches. It is safe to run twice, late, or not at all."""

from celery import shared_task

from batches import services


@shared_task
def place_rows(batch_id: int) -> None:
    """Place the next rows of a batch."""
    services.place_rows(batch_id)
