"""What the workers do about stored callbacks. Safe to run twice, late, or not at all."""

from celery import shared_task

from callbacks import services


@shared_task
def process_receipt(receipt_id: int) -> None:
    """Do what one callback says."""
    services.process(receipt_id)


@shared_task
def sweep_receipts() -> None:
    """Process what was stored while the broker was down."""
    services.process_due()
