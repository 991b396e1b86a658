"""The workers' tasks about stored callbacks. Safe to run twice, late, or not at all."""

from celery import shared_task

from callbacks import services


@shared_task
def process_waiting(_callback_id: int | None = None, _permit_id: str = "") -> bool:
    """Process all waiting callbacks, not only the one that it was sent for; a fault of ours stays on its row.

    False: it has done nothing, as another thread is at it (`backoffice/celery.py`).
    """
    return services.process_waiting()


@shared_task
def forget_old_bodies() -> None:
    """Empty the bodies whose days are over."""
    services.forget_old_bodies()
