"""What the orders of a list come to: how many, their price, cost and profit."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS
from purchases.states import OPEN, Status

# Above so many orders the numbers are estimates: the newest so many stand for all.
MOST_SUMMED = 10_000


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
    """The sums of these orders: exact up to `MOST_SUMMED`, above it about, by PostgreSQL's statistics."""
    arrived = Q(status=Status.SUCCESS)
    newest = orders.order_by("-created_at", "-pk")
    facts = (
        newest.annotate(pays=CUSTOMER_PAYS, costs=SHOP_PAYS)
        .values("pk", "status", "pays", "costs")[: MOST_SUMMED + 1]
        .aggregate(
            count=Count("pk"),
            arrived=Count("pk", filter=arrived),
            open=Count("pk", filter=Q(status__in=sorted(OPEN))),
            price=Sum("pays", filter=arrived, default=0),
            cost=Sum("costs", filter=arrived, default=0),
        )
    )
    facts = {name: int(value) for name, value in facts.items()}
    if facts["count"] <= MOST_SUMMED:
        return Sums(**facts)
    plan = json.loads(orders.order_by().explain(format="json"))[0]["Plan"]
    times = max(plan["Plan Rows"], facts["count"]) / facts["count"]
    return Sums(**{name: _about(value * times) for name, value in facts.items()}, is_exact=False)


def _about(amount: float) -> int:
    """With three digits that count."""
    whole = round(amount)
    return round(whole, 3 - len(str(abs(whole))))
