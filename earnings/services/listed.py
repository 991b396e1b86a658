"""Exact figures of a long list of orders, from the sums of days, if there are sums for its filter."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from branches.seeing import own_branch
from catalogue.models import Product
from earnings.services.figures import Figures, Period, figures_by, kept_days, totals_of
from purchases.filters import NOT_THROUGH
from purchases.models import Order
from purchases.states import Status
from staff.models import User

# The key of the figures for each filter of the list that has sums.
_BY = {
    "brand": "brand",
    "category": "category",
    "product": "product",
    "cashier": "person",
    "payment": "method",
    "branch": "branch",
}
_BESIDE = {"since", "until", "columns", "status"}
# The columns of the sums for a choice of the status. Other statuses share a column, so the sums do not know them.
_OF_STATUS: dict[str, Callable[[Figures], Figures]] = {
    "": lambda figures: figures,
    Status.SUCCESS: lambda figures: figures._replace(placed=figures.sold, failed=0, reversed=0, open=0),
    Status.REVERSED: lambda figures: Figures(placed=figures.reversed, reversed=figures.reversed),
    NOT_THROUGH: lambda figures: Figures(figures.unsold, failed=figures.failed, reversed=figures.reversed),
}
# The orders of at most this many days without sums are read; more would take too long for a page.
_MOST_READ = 3


def figures_of_list(filters: Mapping[str, str]) -> Figures | None:
    """The figures of the orders that match these valid filters; None if only the orders themselves have them.

    The sums of days are for the whole shop: a reader who sees one branch gets None.
    """
    asked = {name: value for name, value in filters.items() if name not in _BESIDE}
    of_status = _OF_STATUS.get(filters.get("status", ""))
    if of_status is None or own_branch() is not None or len(asked) > 1 or not asked.keys() <= _BY.keys():
        return None
    period = _period(filters)
    if period is None or len(set(period.whole_days()) - kept_days(period)) > _MOST_READ:
        return None
    if not asked:
        return of_status(totals_of(figures_by("day", period).values()))
    [(name, value)] = asked.items()
    key = _key(name, value)
    return of_status(figures_by(_BY[name], period).get(key, Figures())) if key else None


def _period(filters: Mapping[str, str]) -> Period | None:
    """The days of the filter, from the first order to today at most; None for no days."""
    oldest = Order.objects.order_by("created_at", "pk").values_list("created_at", flat=True).first()
    if oldest is None:
        return None
    first, last = timezone.localdate(oldest), timezone.localdate()
    if since := filters.get("since"):
        first = max(first, dt.date.fromisoformat(since))
    if until := filters.get("until"):
        last = min(last, dt.date.fromisoformat(until))
    return Period.of_days(first, last) if first <= last else None


def _key(name: str, value: str) -> Any:
    """The key of the figures: for a product and a cashier the key of the row."""
    if name == "product":
        return Product.objects.filter(code=value).values_list("pk", flat=True).first()
    if name == "cashier":
        return User.objects.filter(username=value).values_list("pk", flat=True).first()
    if name == "branch":
        return int(value)
    return value
