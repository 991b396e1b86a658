"""What the workers do about orders. Each is safe to run twice, late, or not at all."""

from celery import shared_task

from purchases import services
from upstream.budget import CallClass


@shared_task
def submit_order(order_id: int) -> None:
    """Send a freshly placed order: a person waits."""
    services.submit(order_id, call_class=CallClass.INTERACTIVE)


@shared_task
def poll_order_now(order_id: int) -> None:
    """Ask for the status because a person wants to know."""
    services.poll(order_id, call_class=CallClass.INTERACTIVE)


@shared_task
def resubmit_order(order_id: int) -> None:
    """Send a queued order that the sweep found."""
    services.submit(order_id, call_class=CallClass.BACKGROUND)


@shared_task
def poll_order(order_id: int) -> None:
    """Ask for the status of an order that the sweep found."""
    services.poll(order_id, call_class=CallClass.BACKGROUND)
