"""Complaints about the orders that are found."""

from collections.abc import Iterator

from complaints.models import Complaint, State
from core.times import short_time
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.presenting import shown_destination


def complaints(asked: Asked) -> Iterator[Result]:
    """The newest complaints about these orders."""
    if not asked.orders:
        return
    # The orders are read separately: PostgreSQL may read all of them for a join.
    complaints = list(Complaint.objects.filter(order__in=asked.orders).order_by("-pk")[: asked.most])
    orders = asked.shown([complaint.order_id for complaint in complaints])
    for complaint, order in zip(complaints, orders, strict=True):
        complaint.order = order
        state = State(complaint.state)
        facts = [str(state.label), shown_destination(order), short_time(complaint.opened_at)]
        yield Result(
            url=complaint.get_absolute_url(),
            words=order.product_name,
            more=" · ".join(facts),
            icon=state.look.icon,
            colour=state.look.colour,
        )
