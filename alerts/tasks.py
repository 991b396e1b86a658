"""What beat has done about alerts."""

from celery import shared_task

from alerts import services


@shared_task
def evaluate_alerts() -> None:
    """Open and close alerts, and notify people of what is due. What fails is tried again later."""
    services.evaluate_alerts()
    services.notify_people()
