"""The worker's task about batches. It is safe to run twice, late, or not at all."""

from celery import shared_task

from batches import services


@shared_task
def forget_old_texts() -> None:
    """Empty texts in batches that are kept no longer."""
    services.forget_old_texts()


@shared_task
def place_rows(batch_id: int) -> None:
    """Have the next bills of a batch checked, and place its next rows."""
    services.place_rows(batch_id)
