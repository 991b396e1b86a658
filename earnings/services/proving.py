"""Proves the sums of days against their orders, and these orders against the entries of the books."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

import structlog
from django.db import connection
from django.utils import timezone

from core.snapshot import snapshot
from earnings.models import DaySum, SummedDay
from earnings.services.figures import NAMES, Period, kept_days, sums_of_orders

log = structlog.get_logger()

# Each night the last days are proved, and a part of all others, so that each day is proved once in this many nights.
_EACH_NIGHT, _NIGHTS = 35, 30
_KEY = ("by", "product_id", "seller_id", "method", "branch_id", "buyer")
# Rupiah by which the costs of orders differ from their entries; an order from before the books has no entries.
_NOT_THE_ENTRIES = """
    SELECT COALESCE(sum(abs(
               booked.moved + CASE WHEN o.status = 'success' THEN COALESCE(o.price, o.max_price) ELSE 0 END
           )), 0)
      FROM purchases_order o
      JOIN LATERAL (SELECT sum(e.balance_change) AS moved FROM ledger_entry e WHERE e.ref_id = o.ref_id) booked
        ON booked.moved IS NOT NULL
     WHERE o.created_at >= %s AND o.created_at < %s
"""


def prove_days(*, everything: bool = False) -> list[dt.date]:
    """Prove the last days and a part of the others, or all; note on each how much it is off. Returns the wrong days."""
    today = timezone.localdate()
    wrong = []
    for day in SummedDay.objects.order_by("day").values_list("day", flat=True):
        is_due = (today - day).days <= _EACH_NIGHT or day.toordinal() % _NIGHTS == today.toordinal() % _NIGHTS
        if not (everything or is_due):
            continue
        off = off_by(day)
        if off is None:
            continue
        SummedDay.objects.filter(day=day).exclude(off_by=off).update(off_by=off)
        if off:
            log.error("day_sums_are_wrong", day=day.isoformat(), off_by=off)
            wrong.append(day)
    return wrong


def off_by(day: dt.date) -> int | None:
    """The amount by which the day's sums differ from its orders and entries; None: make the sums again first."""
    period = Period.of_days(day, day)
    with snapshot():
        row = SummedDay.objects.get(day=day)
        if not row.off_by and day not in kept_days(period):
            return None
        kept, orders = _keyed(DaySum.objects.of_day(day).values(*_KEY, *NAMES)), _keyed(sums_of_orders(day))
        none = dict.fromkeys(NAMES, 0)
        off = sum(
            abs(kept.get(key, none)[name] - orders.get(key, none)[name]) for key in {*kept, *orders} for name in NAMES
        )
        with connection.cursor() as cursor:
            cursor.execute(_NOT_THE_ENTRIES, [period.since, period.until])
            (not_the_entries,) = cursor.fetchone()
        return int(off + not_the_entries)


def _keyed(rows: Iterable[Any]) -> dict[tuple[Any, ...], Any]:
    return {tuple(row.get(name) or None for name in _KEY): row for row in rows}
