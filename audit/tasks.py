"""Beat's tasks about the audit."""

import time

import structlog
from celery import shared_task
from django.conf import settings

from audit import services
from audit.flaws import Flaw, Verification
from audit.models import Sealing
from core import clock

log = structlog.get_logger()

# The rows of some hours of a busy shop
_RECENT = 50_000
_SEALS_FOR_SECONDS = 12.0


@shared_task
def seal_rows() -> None:
    """Seal the settled rows, and publish the checkpoints. The next run takes what is left."""
    began = time.monotonic()
    try:
        while services.seal() == services.AT_ONCE and time.monotonic() - began < _SEALS_FOR_SECONDS:
            pass
    except services.Restored:
        _keep(Verification(flaws=[Flaw("restored", detail="run: ./run manage restart_audit")]))
    services.publish_checkpoints()


@shared_task
def verify_recent() -> None:
    """Verify the newest rows; an alert opens if something is wrong. A sound result leaves an earlier flaw as it is."""
    result = services.verify(recent=_RECENT)
    if result.flaws:
        _keep(result)
    else:
        Sealing.objects.update(verified_at=clock.now())


@shared_task
def verify_all() -> None:
    """Verify every row, also against our own file of checkpoints, if there is one.

    While that file cannot be read, a flaw that it has shown stays.
    """
    result = services.verify(outside=services.published_lines())
    if result.is_sound and settings.AUDIT_CHECKPOINT_FILE and not result.outside:
        Sealing.objects.update(verified_at=clock.now())
        Sealing.objects.exclude(flaw__reason__startswith="outside").update(flaw=None)
    else:
        _keep(result)


def _keep(result: Verification) -> None:
    """Keep the first flaw for the alert until a verification of everything finds none."""
    if result.flaws:
        log.error("audit_broken", **result.flaws[0].as_json())
    flaw = result.flaws[0].as_json() if result.flaws else None
    Sealing.objects.update(verified_at=clock.now(), flaw=flaw)
