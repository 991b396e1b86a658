"""What the workers do about stored callbacks. Safe to run twice, late, or not at all."""

from celery import shared_task

from callbacks import services


@shared_task
def process_callback(callback_id: int) -> None:
    """Do what one callback says; a fault of ours stays on its row."""
    services.process(callback_id)
