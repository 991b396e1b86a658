"""Beat's tasks about alerts."""

from celery import shared_task
from django.conf import settings
from django.utils.translation import gettext as _

from alerts import services
from alerts.services.ways import ways


@shared_task
def evaluate_alerts() -> None:
    """Open and close alerts, and notify people of what is due. A failed sending is tried again later."""
    services.evaluate_alerts()
    services.notify_people()


@shared_task
def send_results() -> None:
    """Send the result of the day or week that is due."""
    services.send_results()


@shared_task
def send_checkpoint(note: str) -> None:
    """Send the audit's signed checkpoint to `AUDIT_CHECKPOINT_URLS`: these messages can prove a later change."""
    services.send_to_all(_("Checkpoint of the audit"), note, on=ways(settings.AUDIT_CHECKPOINT_URLS))
