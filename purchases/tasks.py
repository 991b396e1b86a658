"""The workers' tasks about orders. Each is safe to run twice, late, or not at all."""

from celery import shared_task
from django.http import QueryDict

from exports.models import Export
from exports.services import write_file
from purchases import services
from purchases.filters import OrderFilter
from purchases.models import Order
from purchases.tables import OrderTable
from upstream.budget import CallClass


@shared_task
def submit_order(order_id: int, permit_id: str = "") -> None:
    """Send a queued order, with the permit that was booked for it."""
    services.submit(order_id, call_class=CallClass.BACKGROUND, permit_id=permit_id)


@shared_task
def poll_order(order_id: int, permit_id: str = "") -> None:
    """Ask for the status of an order, with the permit that was booked for it."""
    services.poll(order_id, call_class=CallClass.BACKGROUND, permit_id=permit_id)


@shared_task
def count_what_is_bought() -> None:
    """Count what the Buy page offers first."""
    services.count_what_is_bought()


@shared_task
def count_health() -> None:
    """Count how products fare, if an order has ended or got slow."""
    services.count_health_if_due()


@shared_task
def write_orders(export_id: int) -> None:
    """Write the orders as the file that somebody asked for, found as this person finds them."""
    export = Export.objects.select_related("owner").filter(pk=export_id).first()
    if export:
        filtered = OrderFilter(QueryDict(export.query), person=export.owner, queryset=Order.objects.for_file())
        write_file(export_id, filtered.qs, OrderTable.file_fields(filtered.chosen_columns, whole=export.whole_numbers))
