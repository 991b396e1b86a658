"""The workers' tasks about orders. Each is safe to run twice, late, or not at all.

A task that returns False has put its work back (`backoffice/celery.py`).
"""

from celery import shared_task

from purchases import services
from purchases.services.polling import Found
from upstream.budget import CallClass


@shared_task
def submit_order(order_id: int, permit_id: str = "") -> bool:
    """Send a queued order, with the permit that was booked for it."""
    return services.submit(order_id, call_class=CallClass.BACKGROUND, permit_id=permit_id)


@shared_task
def poll_order(order_id: int, permit_id: str = "") -> bool:
    """Ask for the status of an order, with the permit that was booked for it."""
    result = services.poll(order_id, call_class=CallClass.BACKGROUND, permit_id=permit_id)
    return result != Found.NOT_ASKED


@shared_task
def poll_by_hand(order_id: int, permit_id: str = "") -> bool:
    """Ask for the status of an order because a person wants to know it now, with the permit that was booked for it."""
    result = services.poll(order_id, call_class=CallClass.BACKGROUND, permit_id=permit_id, by_hand=True)
    return result != Found.NOT_ASKED


@shared_task
def ask_anyway(order_id: int) -> None:
    """Ask for the status of an order in any status: a callback reported another status than the known one."""
    services.poll(order_id, call_class=CallClass.BACKGROUND, is_any=True)


@shared_task
def count_what_is_bought() -> None:
    """Count the products that are bought most, which the counter offers first."""
    services.count_what_is_bought()


@shared_task
def count_health() -> None:
    """Count how products fare, if an order has ended or become slow."""
    services.count_health_if_due()
