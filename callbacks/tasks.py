"""The workers' tasks about stored callbacks. They may run twice, late, or not at all."""

from celery import shared_task

from callbacks import services


@shared_task
def process_waiting(_callback_id: int | None = None, _permit_id: str = "") -> bool:
    """Process all waiting callbacks, not only that of the message; a fault of ours is kept on the callback's row.

    False if it took none, for example because another thread does the work (see `backoffice/celery.py`).
    """
    return services.process_waiting()


@shared_task
def forget_old_bodies() -> None:
    """Empty the bodies that are no longer kept."""
    services.forget_old_bodies()
