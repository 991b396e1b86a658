"""The purchases of one customer: for saved numbers, and on the customer's account."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Count, Max, QuerySet

from complaints.models import Complaint
from purchases.models import Order
from purchases.states import Status
from purchases.sums import Sums, sums_of

_PRODUCTS, _LATEST = 5, 8
# The usual products are read from this many of the newest orders, and were bought at least this often.
_MOST_READ, _USUAL = 500, 2


@dataclass(frozen=True)
class Bought:
    """A product that a customer bought: how often, and the last time."""

    name: str
    code: str
    count: int
    last: dt.datetime


@dataclass(frozen=True)
class Buying:
    """A customer's orders: their sums, the usual products, the latest orders, and the open complaints."""

    sums: Sums
    last_order: dt.datetime | None
    products: list[Bought]
    latest: list[Order]
    open_complaints: int


def buying_of(orders: QuerySet[Order]) -> Buying:
    """The purchases of the customer with these orders."""
    newest = orders.order_by("-created_at", "-pk")
    keys = list(newest.values_list("pk", flat=True)[:_MOST_READ])
    read = Order.objects.filter(pk__in=keys)
    usual = read.filter(status=Status.SUCCESS).order_by().values_list("product_name", "product_code")
    counted = (
        usual.annotate(n=Count("pk"), last=Max("created_at")).filter(n__gte=_USUAL).order_by("-n", "-last")[:_PRODUCTS]
    )
    latest = list(
        Order.objects.for_table().select_related("payment").filter(pk__in=keys[:_LATEST]).order_by("-created_at", "-pk")
    )
    return Buying(
        sums=sums_of(orders),
        last_order=latest[0].created_at if latest else None,
        products=[Bought(*row) for row in counted],
        latest=latest,
        open_complaints=Complaint.objects.open().filter(order__in=keys).count(),
    )
