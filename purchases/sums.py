"""What the orders of a list come to: how many, their price, cost and profit."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from core.search import sum_up
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS
from purchases.states import OPEN, Status


@dataclass(frozen=True)
class Sums:
    """`price`, `cost` and `profit` sum the orders that arrived, in rupiah. `is_exact`: not estimated."""

    count: int
    arrived: int
    open: int
    price: int
    cost: int
    is_exact: bool = True

    @property
    def profit(self) -> int:
        """Rupiah."""
        return self.price - self.cost

    @property
    def others(self) -> int:
        """How many ended without arriving."""
        return self.count - self.arrived - self.open


def sums_of(orders: QuerySet[Order]) -> Sums:
    """The sums of these orders: exact up to `MOST_SUMMED`, above it about."""
    arrived = Q(status=Status.SUCCESS)
    newest = orders.order_by("-created_at", "-pk").annotate(pays=CUSTOMER_PAYS, costs=SHOP_PAYS)
    facts, is_exact = sum_up(
        newest.values("pk", "status", "pays", "costs"),
        arrived=Count("pk", filter=arrived),
        open=Count("pk", filter=Q(status__in=sorted(OPEN))),
        price=Sum("pays", filter=arrived, default=0),
        cost=Sum("costs", filter=arrived, default=0),
    )
    return Sums(**facts, is_exact=is_exact)
