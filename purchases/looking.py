"""Finds quickly the orders of a filter: for "find anything" at each letter, and to say why a list is empty.

It searches a bounded number of orders, in a shop of any size.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Max, Min
from django.utils import timezone
from django.utils.translation import ngettext

from core.periods import Period
from core.search import expected
from core.times import day_words
from purchases.filters import OrderFilter
from purchases.models import Order
from purchases.reading import AMOUNTS

#: About this many of the newest orders are searched when no index narrows the search.
MOST_LOOKED = 20_000
MOST_COUNTED = 99
# Few orders share a value of these filters, or an ending with at least this many digits.
_OF_FEW, _LEAST_END = ("q", "shift", "customer"), 4
# Each of these filters has an index together with the time.
_INDEXED = ("days", "since", "until", "cashier", "product")
_DAYS = frozenset({"days", "since", "until"})


@dataclass(frozen=True)
class Looked:
    """`keys`: the newest matching orders, at most `MOST_COUNTED` + 1. `is_whole`: all orders were searched."""

    keys: list[int]
    is_whole: bool

    @property
    def count(self) -> str:
        """The number of matching orders; "99+" for more, "" if it is unknown because not all were searched."""
        if len(self.keys) > MOST_COUNTED:
            return f"{MOST_COUNTED}+"
        return str(len(self.keys)) if self.is_whole else ""


def look(filtered: OrderFilter, named: str = "") -> Looked:
    """The newest orders of the filter; with `named`, only those that this text names (`matching`, closely)."""
    orders, edge = filtered.qs, None
    chosen = filtered.form.cleaned_data if filtered.form.is_valid() else {}
    if named:
        orders = orders.matching(named, by_part=filtered.sees_numbers, closely=True)
    elif not any(chosen.get(name) for name in _OF_FEW) and len(chosen.get("ends") or "") < _LEAST_END:
        edge = _edge(filtered, chosen)
    if edge is not None:
        orders = orders.filter(created_at__gt=edge)
    newest = orders.order_by("-created_at", "-pk").values_list("pk", flat=True)
    return Looked(list(newest[: MOST_COUNTED + 1]), is_whole=edge is None and not named)


def _edge(filtered: OrderFilter, chosen: Mapping[str, Any]) -> dt.datetime | None:
    """The time after which about `MOST_LOOKED` of the orders that may match were placed; None if there are fewer."""
    placed = Order.objects.all()
    if filtered.is_limited:
        placed = filtered.filters["days"].filter(placed, Period.DAYS_30.value)
    for name in _INDEXED:
        if value := chosen.get(name):
            placed = filtered.filters[name].filter(placed, value)
    count = expected(placed)
    if count <= MOST_LOOKED:
        return None
    span = placed.order_by().aggregate(first=Min("created_at"), last=Max("created_at"))
    first, last = span["first"], span["last"]
    return last - (last - first) * (MOST_LOOKED / count) if first and last else None


def orders_in_words(count: str) -> str:
    """ "4 orders", "99+ orders"."""
    number = int(count.removesuffix("+")) + count.endswith("+")
    return ngettext("%(count)s order", "%(count)s orders", number) % {"count": count}


@dataclass(frozen=True)
class Hindrance:
    """The filter that empties a list. `url`: the list without it; `count`: its number of orders, as in `Looked`."""

    words: str
    url: str
    count: str

    @property
    def found(self) -> str:
        """The count in words; "" if it is unknown."""
        return orders_in_words(self.count) if self.count else ""


def hindrance(filtered: OrderFilter, *, most: int) -> Hindrance | None:
    """The filter without which an empty list has orders; None if there is no such filter, or it is the only one.

    `most`: how many filters are tried.
    """
    if filtered.form.errors:
        return None
    chips = {chip.name: chip.words for chip in filtered.chips()}
    words = filtered.form.cleaned_data.get("q")
    for names in islice(_groups(filtered), most):
        looked = look(filtered.of(filtered.without(*names)))
        if looked.keys:
            called = next((chips[name] for name in names if name in chips), f"“{words}”" if "q" in names else "")
            return Hindrance(called or filtered.days_in_words(), filtered.url_without(*names), looked.count)
    return None


def _groups(filtered: OrderFilter) -> Iterator[tuple[str, ...]]:
    """The chosen filters, the likeliest mistakes first (an ending, a price), the days last; nothing for only one."""
    chosen = [name for name in filtered.without() if name not in {"columns", *_DAYS}]
    order = ["ends", "amount_from", *(name for name in chosen if name not in {"ends", *AMOUNTS, "q"}), "q"]
    days = [name for name in filtered.without() if name in _DAYS]
    groups = [tuple(sorted(AMOUNTS)) if name in AMOUNTS else (name,) for name in order if name in chosen]
    if "amount_to" in chosen and "amount_from" not in chosen:
        groups.append(("amount_to",))
    groups += [tuple(days)] if days else []
    if len(groups) > 1:
        yield from groups


class WeekBefore(NamedTuple):
    """The same list one week earlier. `words`: its day; `found`: the number of its orders, "" if that is unknown."""

    words: str
    url: str
    found: str


def week_before(filtered: OrderFilter) -> WeekBefore | None:
    """The same day a week earlier, if the list shows yesterday, is empty, and that day has orders.

    On a Friday, "last thursday" may mean that day.
    """
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    if not filtered.data.get("since") == filtered.data.get("until") == yesterday.isoformat():
        return None
    day = (yesterday - dt.timedelta(days=7)).isoformat()
    dates = {"since": day, "until": day}
    looked = look(filtered.of(filtered.without("since", "until") | dates))
    if not looked.keys:
        return None
    words = orders_in_words(looked.count) if looked.count else ""
    return WeekBefore(day_words(day), filtered.url_without("since", "until", **dates), words)
