"""What the workers do about drawers. Each is safe to run twice, late, or not at all."""

from celery import shared_task

from drawers import services


@shared_task
def sweep_sales() -> None:
    """Enter the sales that open shifts lack, and note what customers are owed."""
    services.sweep_sales()
    services.note_owed()
