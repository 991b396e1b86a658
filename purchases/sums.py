"""The sums of the orders of a list: their number, price, cost and profit."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import Aggregate, Count, Min, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL

from core import search
from core.search import expected, is_among, rounded
from core.times import start_of_day
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS
from purchases.states import OPEN, Status

# An estimate reads about this many orders at most, in this many runs of neighbours.
_SPREAD, _RUNS = 30_000, 1_000
# If this many of them match, the share that matches is known well enough: to 6 % in two of three cases.
_ENOUGH = 300
# A run has about thirty orders. Without a limit PostgreSQL expects a two-hundredth of all orders in each, and would
# compile the query for so many (`jit`).
_KEYS = """ARRAY(
    SELECT placed.id
      FROM generate_series(%s::timestamptz, %s, %s) run
     CROSS JOIN LATERAL (
        SELECT id FROM purchases_order WHERE created_at >= run AND created_at < run + %s LIMIT 2000
     ) placed
)"""
_EVERY_DAY: Mapping[str, str] = MappingProxyType({})
_ARRIVED = Q(status=Status.SUCCESS)
_FACTS: dict[str, Aggregate] = {
    "count": Count("pk"),
    "arrived": Count("pk", filter=_ARRIVED),
    "open": Count("pk", filter=Q(status__in=sorted(OPEN))),
    "price": Sum("pays", filter=_ARRIVED, default=0),
    "cost": Sum("costs", filter=_ARRIVED, default=0),
}


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
        """The number of orders that ended without arriving."""
        return self.count - self.arrived - self.open


def sums_of(orders: QuerySet[Order], *, days: Mapping[str, str] = _EVERY_DAY, are_many: bool = False) -> Sums:
    """The sums of these orders: exact up to `MOST_SUMMED`, above it an estimate.

    For an estimate, orders that are evenly spread over the days (`since` and `until`) stand for all. If too few of them
    match, they stand only for the orders that are older than the newest `MOST_SUMMED`. `are_many`: many orders were
    placed (`were_many_placed`), so the spread ones are read first: the newest that match may be far apart.
    """
    rows = orders.order_by("-created_at", "-pk").annotate(pays=CUSTOMER_PAYS, costs=SHOP_PAYS)
    placed = _placed(days)
    if are_many:
        found, about = _by_spread(rows, placed)
        if found >= _ENOUGH and about["count"] > 2 * search.MOST_SUMMED:
            return _made(about, is_exact=False)
    newest = rows.values("pk", "created_at", "status", "pays", "costs")[: search.MOST_SUMMED + 1]
    read = newest.aggregate(oldest=Min("created_at"), **_FACTS)
    oldest = read.pop("oldest")
    if read["count"] <= search.MOST_SUMMED:
        return _made(read, is_exact=True)
    earlier = placed.filter(created_at__lt=oldest)
    _found, about = _by_spread(rows, earlier)
    return _made({name: read[name] + value for name, value in about.items()}, is_exact=False)


def _made(facts: Mapping[str, float], *, is_exact: bool) -> Sums:
    number = int if is_exact else rounded
    count, arrived, are_open, price, cost = (number(facts[name]) for name in _FACTS)
    return Sums(count, arrived, are_open, price, cost, is_exact=is_exact)


def _placed(days: Mapping[str, str]) -> QuerySet[Order]:
    """All orders of these days, `since` and `until`."""
    placed = Order.objects.all()
    if since := days.get("since"):
        placed = placed.filter(created_at__gte=start_of_day(dt.date.fromisoformat(since)))
    if until := days.get("until"):
        placed = placed.filter(created_at__lt=start_of_day(dt.date.fromisoformat(until) + dt.timedelta(days=1)))
    return placed


def were_many_placed(days: Mapping[str, str]) -> bool:
    """Whether enough orders were placed in these days for some of them to stand for all."""
    return expected(_placed(days)) > 2 * _SPREAD


def _by_spread(rows: QuerySet[Order], placed: QuerySet[Order]) -> tuple[int, dict[str, float]]:
    """The number of matches among orders spread evenly over those placed, and the estimated sums of all matches."""
    first, last = (
        placed.order_by(order).values_list("created_at", flat=True).first() for order in ("created_at", "-created_at")
    )
    if first is None or last is None:
        return 0, dict.fromkeys(_FACTS, 0.0)
    step = (last - first) / _RUNS + dt.timedelta(microseconds=1)
    # A rough number is enough: it decides how many orders are read, not the result.
    run = step * min(_SPREAD / expected(placed), 1)
    keys = RawSQL(_KEYS, [first + (step - run) / 2, last, step, run])  # noqa: S611 - nothing that a person types
    found = rows.order_by().filter(is_among("pk", keys)).aggregate(**_FACTS)
    return found["count"], {name: value * (step / run) for name, value in found.items()}
