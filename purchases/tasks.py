"""What the workers do about orders and the catalogue. Each is safe to run twice, late, or not at all."""

import structlog
from celery import shared_task

from purchases import services
from upstream.budget import CallClass

log = structlog.get_logger()


@shared_task
def submit_order(order_id: int) -> None:
    """Send a freshly placed order: a person waits."""
    services.submit(order_id, call_class=CallClass.INTERACTIVE)


@shared_task
def check_order_now(order_id: int) -> None:
    """Ask for the status because a person wants to know."""
    services.check(order_id, call_class=CallClass.INTERACTIVE)


@shared_task
def resubmit_order(order_id: int) -> None:
    """Send a queued order that the sweep found."""
    services.submit(order_id, call_class=CallClass.BACKGROUND)


@shared_task
def check_order(order_id: int) -> None:
    """Ask for the status of an order that the sweep found."""
    services.check(order_id, call_class=CallClass.BACKGROUND)


@shared_task
def sweep_orders() -> None:
    """Hand out what is due."""
    services.sweep()


@shared_task
def reconcile_books() -> None:
    """Compare the books with the upstream."""
    services.reconcile_books()


@shared_task
def sync_catalogue() -> None:
    """Fetch the catalogue; a fault is stored with the attempt and the last good catalogue stays."""
    try:
        services.sync_catalogue()
    except services.CatalogueFault as fault:
        log.warning("catalogue_not_synced", fault=str(fault))
