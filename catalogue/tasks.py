"""The workers' tasks of the catalogue. They may run twice, late, or not at all."""

import structlog
from celery import shared_task

from catalogue import services
from catalogue.errors import CatalogueFault
from catalogue.models import Product

log = structlog.get_logger()


@shared_task
def sync_catalogue() -> None:
    """Fetch the catalogue; a fault is stored with the attempt and the last good catalogue stays."""
    try:
        services.sync_catalogue()
    except CatalogueFault as fault:
        log.warning("catalogue_not_synced", fault=fault.code.value, detail=fault.detail)


@shared_task
def fetch_missing_catalogue() -> None:
    """Fetch the first catalogue as soon as the rate limits allow it: nothing can be sold before."""
    if not Product.objects.exists():
        sync_catalogue()
