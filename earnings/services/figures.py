"""The figures of a period: from the sums of its days if there are any, else from its orders."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add, sub
from typing import Any, NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import BigIntegerField, Count, DateField, F, Func, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, Extract, Greatest, TruncDate, TruncHour
from django.utils import timezone

from branches.seeing import narrowed, own_branch
from core.times import days_from, start_of_day
from customers.models import MergedCustomer
from customers.services import where_merged
from earnings.models import By, DaySum, SummedDay
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS
from purchases.states import OPEN, Status

_ONE_DAY = dt.timedelta(days=1)
# The longest time of a move: a reversal that was committed while its day was summed may be dated before the sums.
LONGEST_MOVE = dt.timedelta(minutes=5)

_SOLD = Q(status=Status.SUCCESS)
_TOOK = Greatest(Cast(Extract(F("final_at") - F("created_at"), "epoch"), BigIntegerField()), 0)
# The figures, from orders.
_SUMS: dict[str, Any] = {
    "placed": Count("pk"),
    "sold": Count("pk", filter=_SOLD),
    "failed": Count("pk", filter=Q(status__in=[Status.FAILED, Status.REJECTED])),
    "reversed": Count("pk", filter=Q(status=Status.REVERSED)),
    "sales": Coalesce(Sum(CUSTOMER_PAYS, filter=_SOLD, output_field=BigIntegerField()), 0),
    "cost": Coalesce(Sum(SHOP_PAYS, filter=_SOLD, output_field=BigIntegerField()), 0),
    "seconds": Coalesce(Sum(_TOOK, filter=_SOLD, output_field=BigIntegerField()), 0),
    "open": Count("pk", filter=Q(status__in=OPEN)),
}
# The splits of figures: the sums of each, the column of these sums, and that of the orders.
_KEYS: dict[str, tuple[By, str, Any]] = {
    "brand": (By.PRODUCT, "product__brand__name", F("product__brand__name")),
    "category": (By.PRODUCT, "product__category__code", F("product__category__code")),
    "product": (By.PRODUCT, "product_id", F("product_id")),
    "person": (By.PERSON, "seller_id", F("placed_by_id")),
    "method": (By.METHOD, "method", F("payment__method")),
    "branch": (By.BRANCH, "branch_id", F("payment__branch_id")),
    "buyer": (By.BUYER, "buyer", F("payment__buyer")),
    "day": (By.METHOD, "day_id", TruncDate("created_at")),
    # From orders alone: no sums of days have hours. The hours of UTC are those of the shop, and take half as long.
    "hour": (By.METHOD, "", TruncHour("created_at", tzinfo=dt.UTC)),
}


class Figures(NamedTuple):
    """Counts of orders, and rupiah. `open`: those without a final result, which no summed day has.

    A tuple, because a month has thousands of customers: a frozen dataclass takes eight times as long to make.
    """

    placed: int = 0
    sold: int = 0
    failed: int = 0
    reversed: int = 0
    sales: int = 0
    cost: int = 0
    seconds: int = 0
    open: int = 0

    def plus(self, other: Figures) -> Figures:
        """The sum of both."""
        return Figures(*map(add, self, other))

    def less(self, other: Figures) -> Figures:
        """These figures less the other ones, which are a part of them."""
        return Figures(*map(sub, self, other))

    @property
    def profit(self) -> int:
        """Rupiah: what customers pay, less what the shop pays."""
        return self.sales - self.cost

    @property
    def cancelled(self) -> int:
        """The number of orders that people cancelled or closed."""
        return self.placed - self.sold - self.failed - self.reversed - self.open

    @property
    def unsold(self) -> int:
        """The number of orders that the upstream decided and that did not go through."""
        return self.failed + self.reversed

    @property
    def has_only_failed(self) -> bool:
        """Whether the upstream decided some, and none of them went through."""
        return not self.sold and self.unsold > 0

    @property
    def share(self) -> float | None:
        """The share that went through, 0 to 1, of those that the upstream decided; None without any."""
        decided = self.sold + self.unsold
        return self.sold / decided if decided else None

    @property
    def usual_seconds(self) -> int | None:
        """The average time of an arrived order; None without any."""
        return self.seconds // self.sold if self.sold else None


#: The columns of `DaySum`: all figures but the last, `open`.
NAMES = Figures._fields[:-1]
# As one value: Django converts each value of a row separately, which takes longer than adding them up.
_ALL_SUMS = Func(
    *map(Sum, NAMES), template="ARRAY[%(expressions)s]::bigint[]", output_field=ArrayField(BigIntegerField())
)
_OF_SUMS = {f"of_{name}": _SUMS[name] for name in Figures._fields}


class Most(NamedTuple):
    """The customers with separate figures in a period with thousands: the `number` with the most sales.

    `named`: keys of further customers with separate figures. Customers whose orders were read, and merged ones, have
    them, too. With a `number` of 0 nobody is ranked, and the others are one group with only its figures.
    """

    number: int
    named: frozenset[Any] = frozenset()


class Others(NamedTuple):
    """The key of the joint figures of the other customers: their number; whether they bought, or all failed."""

    number: int
    has_sold: bool
    has_only_failed: bool


_EVERYBODY_ELSE = Others(0, has_sold=False, has_only_failed=False)
# As numbers of eight bytes: PostgreSQL's own sums are decimals, which take longer to sort and to add up again.
_AS_NUMBERS = {name: Cast(Sum(name), BigIntegerField()) for name in NAMES}
# A month has 10,000 customers: to make the figures of each in Python takes 0.1 seconds.
_OF_MOST = f"""
    WITH merged AS (SELECT gone FROM {{merged}} UNION ALL SELECT kept_id FROM {{merged}}),
    each AS (SELECT *, sold > 0 AS has_sold, sold = 0 AND failed + reversed > 0 AS has_only_failed,
                    buyer IS NULL OR buyer = ANY(%s::bigint[]) OR buyer IN (SELECT gone FROM merged) AS is_apart
               FROM ({{by_buyer}}) sums),
    ranked AS (SELECT *, is_apart OR %s >= row_number() OVER (
                 PARTITION BY is_apart, has_sold, has_only_failed ORDER BY sales DESC, placed DESC
               ) AS is_named FROM each)
    SELECT CASE WHEN is_named THEN buyer END, is_named, has_sold, has_only_failed, count(*),
           {", ".join(f"sum({name})::bigint" for name in NAMES)}
      FROM ranked GROUP BY 1, 2, 3, 4
"""  # noqa: S608 - our own text


@dataclass(frozen=True)
class Period:
    """From one moment up to another, which is not included."""

    since: dt.datetime
    until: dt.datetime

    @classmethod
    def of_days(cls, first: dt.date, last: dt.date) -> Period:
        """Whole days of the shop, the last included."""
        return cls(start_of_day(first), start_of_day(last + _ONE_DAY))

    @classmethod
    def around(cls, *periods: Period) -> Period:
        """The days from the first to the last day of all of them."""
        return cls.of_days(min(period.first for period in periods), max(period.last for period in periods))

    @property
    def first(self) -> dt.date:
        """Its first day."""
        return timezone.localdate(self.since)

    @property
    def last(self) -> dt.date:
        """Its last day; at midnight the day that begins, which has nothing yet."""
        return timezone.localdate(max(self.since, self.until - dt.timedelta(microseconds=1)))

    def whole_days(self) -> list[dt.date]:
        """The days that are completely in it."""
        first = self.first if start_of_day(self.first) >= self.since else self.first + _ONE_DAY
        last = self.last if start_of_day(self.last + _ONE_DAY) <= self.until else self.last - _ONE_DAY
        return days_from(first, last)

    def rest_of_day(self) -> Period:
        """The part of its last day after its end; empty if it ends with the day."""
        return Period(self.until, start_of_day(self.last + _ONE_DAY))

    def up_to_a_day(self) -> Period:
        """The same period, up to the end of its last day if it has most of that day."""
        rest = self.rest_of_day()
        is_most = rest.until - rest.since < self.until - max(self.since, start_of_day(self.last))
        return Period(self.since, rest.until) if is_most else self


def figures_by(
    key: str, period: Period, kept: set[dt.date] | None = None, most: Most | None = None
) -> dict[Any, Figures]:
    """The figures of the period by one of `_KEYS`, such as "brand" or "day"; see `figures_by_each`."""
    return figures_by_each((key,), period, kept, most)[0]


def figures_by_each(
    keys: Sequence[str], period: Period, kept: set[dt.date] | None = None, most: Most | None = None
) -> list[dict[Any, Figures]]:
    """The figures of the period by each of these keys; orders are read once for all keys.

    `kept`: the `kept_days` of a time around it, if the caller needs several periods. For a reader who sees one branch,
    figures come from its orders, because the sums of days are for the whole shop. If the period has most of a day, the
    rest of that day is subtracted from its sums. `most`: join customers in `Others`.
    """
    added: list[dict[Any, Figures]] = [{} for _key in keys]
    days = period.up_to_a_day()
    kept = kept_days(days) if kept is None else kept.intersection(days.whole_days())
    summed = kept if own_branch() is None else set()
    for part in _not_summed(period, summed):
        for own, rows in zip(added, _read_by(keys, part), strict=True):
            _add(own, rows)
    rest = period.rest_of_day()
    if period.last in summed and rest.since < rest.until:
        for own, rows in zip(added, _read_by(keys, rest), strict=True):
            for key_, figures in rows:
                own[key_] = own.get(key_, Figures()).less(figures)
    if summed:
        for own, key in zip(added, keys, strict=True):
            sums = _days_summed(_KEYS[key][0], period, summed)
            _add(own, _sums_by(key, sums) if key != "buyer" or most is None else _sums_of_most(sums, most, {*own}))
    return [{key: figures for key, figures in own.items() if figures.placed} for own in added]


def _days_summed(kept_by: By, period: Period, summed: set[dt.date]) -> QuerySet[DaySum]:
    """The sums of these days."""
    sums = DaySum.objects.filter(by=kept_by, day__gte=min(summed), day__lte=max(summed)).order_by()
    left_out = {day for day in period.whole_days() if min(summed) < day < max(summed)} - summed
    return sums.exclude(day__in=left_out) if left_out else sums


def _sums_by(key: str, sums: QuerySet[DaySum]) -> Iterator[tuple[Any, Figures]]:
    """These sums, added up by the key."""
    for key_, numbers in sums.values_list(_KEYS[key][1]).annotate(numbers=_ALL_SUMS):
        yield key_, Figures(*numbers)


def _sums_of_most(sums: QuerySet[DaySum], most: Most, read: set[Any]) -> Iterator[tuple[Any, Figures]]:
    """These sums by customer, and by `Others`. `read`: the keys whose orders were read, too; they stay separate."""
    named = [key for key in read | most.named if key is not None]
    if not most.number:
        yield from _sums_of_named(sums, named)
        return
    by_buyer, values = sums.values_list("buyer").annotate(**_AS_NUMBERS).query.sql_with_params()
    with connection.cursor() as cursor:
        statement = _OF_MOST.format(by_buyer=by_buyer, merged=MergedCustomer._meta.db_table)
        cursor.execute(statement, [named, *values, most.number])
        for key, is_named, has_sold, has_only_failed, count, *numbers in cursor.fetchall():
            yield key if is_named else Others(count, has_sold, has_only_failed), Figures(*numbers)


def _sums_of_named(sums: QuerySet[DaySum], named: list[Any]) -> Iterator[tuple[Any, Figures]]:
    """These sums by customer for named and merged customers, and the joint sums of all others."""
    merged = MergedCustomer.objects.order_by()
    apart = Q(buyer=None) | Q(buyer__in=named) | Q(buyer__in=merged.values("gone")) | Q(buyer__in=merged.values("kept"))
    others = Figures(*(number or 0 for number in sums.aggregate(numbers=_ALL_SUMS)["numbers"]))  # of no rows: None
    for key, figures in _sums_by("buyer", sums.filter(apart)):
        others = others.less(figures)
        yield key, figures
    yield _EVERYBODY_ELSE, others


def figures_drawn(
    key: str, step: str, period: Period, kept: set[dt.date], most: Most | None = None
) -> tuple[dict[Any, Figures], dict[Any, Figures]]:
    """The figures of the period by the key, and by its hours ("hour", of one day) or its days ("day").

    The orders of a day that is not summed are read once for both.
    """
    if step == "hour" and kept.intersection(period.whole_days()):
        return figures_by(key, period, kept, most), _by_shop_hour(_read_by(("hour",), period)[0])
    by_key, by_step = figures_by_each((key, step), period, kept, most)
    return by_key, by_step if step == "day" else _by_shop_hour(by_step.items())


def sales_by_hour(day: Period) -> dict[int, Figures]:
    """The count and sales of a day's orders that arrived, by the shop's hour in which they were placed."""
    orders = orders_of(day).filter(_SOLD).annotate(hour=_KEYS["hour"][2]).values_list("hour")
    rows = orders.annotate(sold=Count("pk"), sales=_SUMS["sales"])
    return _by_shop_hour((hour, Figures(sold=sold, sales=sales)) for hour, sold, sales in rows)


def _by_shop_hour(rows: Iterable[tuple[dt.datetime, Figures]]) -> dict[int, Figures]:
    return {timezone.localtime(hour).hour: figures for hour, figures in rows}


def by_customer(*by_buyer: dict[Any, Figures]) -> list[dict[int | None, Figures]]:
    """Figures by "buyer" as figures of customers: a merged customer counts under the key of the remaining one.

    None: orders without a buyer, so that all add up to those of the period.
    """
    merged = where_merged({buyer for figures in by_buyer for buyer in figures if not isinstance(buyer, Others)})
    if not merged:
        return list(by_buyer)
    return [_added((merged.get(buyer, buyer), own) for buyer, own in figures.items()) for figures in by_buyer]


def totals_of(figures: Iterable[Figures]) -> Figures:
    """The sum of all these figures."""
    return Figures(*map(sum, zip(*figures, strict=True)))


def orders_of(period: Period) -> QuerySet[Order]:
    """The orders of the period that the reader sees."""
    orders = Order.objects.filter(created_at__gte=period.since, created_at__lt=period.until).order_by()
    return narrowed(orders, "payment__branch")


def sums_of_orders(day: dt.date) -> list[dict[str, Any]]:
    """The sums of this day from its orders: one for each product, person, way to pay, branch and buyer."""
    orders = orders_of(Period.of_days(day, day))
    return [
        {"by": kept_by, column: key, **dict(zip(NAMES, numbers[: len(NAMES)], strict=True))}
        for kept_by, column, of_orders in (_KEYS[by] for by in By.values)
        for key, *numbers in _rows_by(orders, of_orders)
    ]


def kept_days(period: Period) -> set[dt.date]:
    """The whole days of the period with valid sums: proved or not yet, and without a later reversal or later shift.

    A sale of a person who was switched off waits for no shift. When the person comes back, a later shift takes it.
    """
    days = period.whole_days()
    if not days:
        return set()
    rows = SummedDay.objects.filter(day__gte=days[0], day__lte=days[-1], off_by=0).values_list("day", "summed_at")
    summed_at = dict(rows)
    if summed_at:
        orders = orders_of(Period.of_days(min(summed_at), max(summed_at))).values_list(TruncDate("created_at"))
        reversals = orders.filter(status=Status.REVERSED).annotate(Max("final_at"))
        waited = orders.filter(payment__agreed_in__isnull=False, payment__sold_in__isnull=False)
        for day, changed_at in reversals.union(waited.annotate(Max("payment__sold_in__opened_at")), all=True):
            if day in summed_at and changed_at > summed_at[day] - LONGEST_MOVE:
                del summed_at[day]
    return set(summed_at)


def _read_by(keys: Sequence[str], period: Period) -> list[list[tuple[Any, Figures]]]:
    """For each key the figures of the period's orders, which are read once."""
    of_orders = [_KEYS[key][2] for key in keys]
    if period.first == period.last and "day" in keys:  # computing each order's day takes half as long as its sums
        of_orders[keys.index("day")] = Value(period.first, output_field=DateField())
    rows = _rows_by(orders_of(period), *of_orders)
    read = [(row, Figures(*row[len(keys) :])) for row in rows]
    return [[(row[place], figures) for row, figures in read] for place in range(len(keys))]


def _rows_by(orders: QuerySet[Order], *of_orders: Any) -> QuerySet[Order, tuple[Any, ...]]:
    """The keys and the figures of these orders."""
    keys = {f"key_{number}": of for number, of in enumerate(of_orders)}
    return orders.annotate(**keys).values_list(*keys).annotate(**_OF_SUMS)


def _not_summed(period: Period, summed: set[dt.date]) -> Iterator[Period]:
    """The parts of the period between the days that are summed."""
    edges = [period.since]
    for day in sorted(summed):
        edges += [start_of_day(day)] if day - _ONE_DAY not in summed else []
        edges += [start_of_day(day + _ONE_DAY)] if day + _ONE_DAY not in summed else []
    for number, (since, until) in enumerate(pairwise([*edges, period.until])):
        if number % 2 == 0 and since < until:
            yield Period(since, until)


def _added(rows: Iterable[tuple[Any, Figures]]) -> dict[Any, Figures]:
    """The figures by key, with the figures of one key added up."""
    added: dict[Any, Figures] = {}
    _add(added, rows)
    return added


def _add(added: dict[Any, Figures], rows: Iterable[tuple[Any, Figures]]) -> None:
    for key, figures in rows:
        added[key] = added[key].plus(figures) if key in added else figures
