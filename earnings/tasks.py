"""The tasks of beat about earnings."""

from celery import shared_task

from earnings import services


@shared_task
def sum_days() -> None:
    """Sum the days that are over."""
    services.sum_days()


@shared_task
def prove_days() -> None:
    """Prove the sums: once a night."""
    services.prove_days()
