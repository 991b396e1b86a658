"""Counts our own last orders in the background: the health of each product, and the best sellers.

The health is kept as one row a product. No page waits for either count.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from catalogue.models import LAST_ORDERS
from catalogue.services import Health, note_bought, note_health
from core import recount
from purchases.models import Order
from purchases.states import FINAL, POLLED, Status

_RECOUNT = "product-health"
# Older orders say nothing about now; if there are more than this many, only the newest ones count.
_LATELY = dt.timedelta(hours=1)
_MOST_ORDERS = 2_000
# A product fails if at least this many of its last ten orders, and at least this part of them, have failed.
_LEAST_FAILED, _LEAST_PART = 3, 0.3
# A product is slow if two of its last three orders took longer than this, or are on their way for longer.
_SLOW_AFTER = dt.timedelta(minutes=2)
_SLOW_OF, _LEAST_SLOW = 3, 2
# The time for which a product is called slow after the end of its last slow order, while it has no other sale.
_SLOW_FOR = dt.timedelta(minutes=15)
_BOUGHT_WITHIN = dt.timedelta(days=30)
# In a shop of any size, this many of its last orders decide the best sellers.
_LAST_ORDERS = 20_000


class _Sold(NamedTuple):
    """The result of an order for its product."""

    product: int
    status: str
    sent_at: dt.datetime | None
    final_at: dt.datetime | None


def recount_when_committed(statuses: Collection[str]) -> None:
    """Have the health counted after a move: at once if an order has ended, or when a sent one would become slow."""
    if not FINAL.isdisjoint(statuses):
        transaction.on_commit(lambda: recount.ask_for(_RECOUNT))
    elif not POLLED.isdisjoint(statuses):
        transaction.on_commit(lambda: recount.ask_for(_RECOUNT, in_seconds=_SLOW_AFTER.total_seconds()))


def count_health_if_due() -> None:
    """Count the health if an order has ended or become slow since the last time; otherwise run no query."""
    if recount.is_due(_RECOUNT):
        count_health()


def count_health() -> None:
    """Count the health of all products from the orders of the last hour (2,000 at most)."""
    now = timezone.now()
    of_product: dict[int, list[_Sold]] = defaultdict(list)
    for sold in _last_orders(now):
        of_product[sold.product].append(sold)
    note_health({product: _health(orders, now) for product, orders in of_product.items()}, now)
    sent = [sold.sent_at for orders in of_product.values() for sold in orders if sold.status in POLLED and sold.sent_at]
    if young := [at for at in sent if now - at <= _SLOW_AFTER]:
        recount.ask_for(_RECOUNT, in_seconds=(min(young) + _SLOW_AFTER - now).total_seconds() + 1)


def _last_orders(now: dt.datetime) -> list[_Sold]:
    last = Order.objects.filter(created_at__gte=now - _LATELY).order_by("-created_at", "-pk")
    return [_Sold(*row) for row in last.values_list("product", "status", "sent_at", "final_at")[:_MOST_ORDERS]]


def _health(orders: Sequence[_Sold], now: dt.datetime) -> Health:
    ended = [
        (order.final_at, order.status == Status.FAILED)
        for order in orders
        if order.final_at and order.status in {Status.SUCCESS, Status.REVERSED, Status.FAILED}
    ]
    last = sorted(ended, reverse=True)[:LAST_ORDERS]
    failures = [at for at, has_failed in last if has_failed]
    fails = len(failures) >= max(_LEAST_FAILED, _LEAST_PART * len(last))
    # Once the third newest failure is too old, too few are left.
    failing_until = failures[_LEAST_FAILED - 1] + _LATELY if fails else None
    return Health(len(last), len(failures), failing_until, _slow_until(orders, now))


def _slow_until(orders: Sequence[_Sold], now: dt.datetime) -> dt.datetime | None:
    """The time until which the product is called slow; None if it is not slow."""
    took = []
    for order in orders:
        if order.sent_at and (order.status in POLLED or order.status in {Status.SUCCESS, Status.FAILED}):
            long = (order.final_at or now) - order.sent_at > _SLOW_AFTER
            if long or order.final_at:  # a young one on its way says nothing yet
                took.append((order.sent_at, long, order.final_at))
    last = sorted(took, key=lambda times: times[0], reverse=True)[:_SLOW_OF]
    slow = [(sent_at, final_at) for sent_at, long, final_at in last if long]
    if len(slow) < _LEAST_SLOW:
        return None
    if any(final_at is None for _sent_at, final_at in slow):
        return max(sent_at for sent_at, _final_at in slow) + _LATELY  # or until it ends
    until = max(final_at for _sent_at, final_at in slow if final_at) + _SLOW_FOR
    return until if until > now else None


def count_what_is_bought() -> None:
    """Count the last orders (of 30 days, 20,000 at most) of each product: the pages offer those first."""
    last = Order.objects.filter(created_at__gte=timezone.now() - _BOUGHT_WITHIN).order_by("-created_at", "-pk")
    same = Order.objects.filter(pk__in=last.values("pk")[:_LAST_ORDERS]).order_by()
    note_bought(dict(same.values_list("product").annotate(count=Count("pk"))))
