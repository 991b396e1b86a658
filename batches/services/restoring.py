"""Gives the rows of a released batch the orders that they became in the time that a restored database lost.

The journal of what is sent brings these orders back (`purchases.services.lost`), but not what the rows were then.
"""

from collections.abc import Collection

from django.db.models import Q

from batches.models import NEVER_ORDERED, Batch
from batches.states import RowState
from core.bulk import update_rows
from gateway.services import may_be_lost
from purchases.models import Order


def take_lost_orders(batch: Batch) -> None:
    """Mark the rows of a locked batch as placed whose orders are back from the lost time."""
    if not (batch.is_released and may_be_lost(batch.created_at)):
        return
    rows = list(batch.rows.filter(Q(state=RowState.READY) | NEVER_ORDERED).order_by("line"))
    sold = {order.ref_id: order for order in Order.objects.filter(ref_id__in=[row.ref_id for row in rows])}
    paid = _payments_of_bills(batch, {row.destination for row in rows if row.is_bill})
    placed = []
    for row in rows:
        order = paid.get((row.product_id, row.destination)) if row.is_bill else sold.get(row.ref_id)
        if order is None:
            continue
        row.order, row.state, row.fault, row.said = order, RowState.PLACED, "", ""
        if row.is_bill:
            row.bill_check = order.bill_check
        placed.append(row)
    update_rows(placed, ("order", "state", "fault", "said", "bill_check"))


def _payments_of_bills(batch: Batch, numbers: Collection[str]) -> dict[tuple[int | None, str], Order]:
    """The payments of bills by this batch that no row names, by product (key) and number.

    The payment may be of a check that this database never gave to the row. Its mark is of this batch alone, and a batch
    pays a bill once.
    """
    own = Order.objects.filter(kind=Order.Kind.BILL, destination__in=numbers, batch_row=None)
    marked = own.filter(payment__paid_at_once=batch.payment.paid_at_once, bill_check__isnull=False)
    return {(order.product_id, order.destination): order for order in marked.select_related("bill_check")}
