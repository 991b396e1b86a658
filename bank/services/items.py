"""The items that should be at the bank: payments and refunds by transfer, days of QRIS and cards, top-ups."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any, NamedTuple

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    Count,
    DateTimeField,
    DurationField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.functions import Concat, Greatest
from django.utils import timezone

from bank.models import BankRow
from core.snapshot import snapshot
from core.times import days_from, start_of_day
from core.together import read_together
from credit.methods import bank_methods
from credit.models import CreditEntry
from drawers.models import TO_GIVE_BACK, Outcome, Payment
from drawers.services import credit_of_branch
from reconciliation.models import ExpectedTopUp

_ONE_DAY = dt.timedelta(days=1)
SALE, GIVEN, CREDIT, TOPUP = "sale", "given", "credit", "topup"


@dataclass(frozen=True)
class Item:
    """`key`: its kind and its row or day, as "sale:REF", "credit:8", "topup:3" or "qris:2026-11-25".

    `amount`: whole rupiah at the bank, below zero if it leaves. `reference`: the text that the bank's row may name.
    `is_day`: the sum of a day, from which the provider keeps a fee. `method`: the way to pay; "" for a top-up.
    """

    key: str
    day: dt.date
    amount: int
    reference: str = ""
    is_day: bool = False
    method: str = ""

    def is_reached(self, reached: Collection[dt.date]) -> bool:
        """Whether statements of these days should have the item: the sum of a day is paid out on the next day."""
        return _is_reached(self.day, reached, is_day=self.is_day)


class OpenSum(NamedTuple):
    """The unmatched items of one day: their number, and the rupiah that come and leave.

    `is_reached`: whether the statements should have them. `is_day`: the sum of a day, as `Item.is_day`.
    """

    day: dt.date
    is_reached: bool
    number: int
    came: int
    left: int
    is_day: bool = False

    def is_reached_by(self, days: Collection[dt.date]) -> bool:
        """Whether statements of these days should have them."""
        return _is_reached(self.day, days, is_day=self.is_day)


def _is_reached(day: dt.date, reached: Collection[dt.date], *, is_day: bool) -> bool:
    return day in reached and day + dt.timedelta(days=is_day) in reached


def items_of(first: dt.date, last: dt.date) -> list[Item]:
    """The items of these days of the shop, the earliest first."""
    since, until = start_of_day(first), start_of_day(last + _ONE_DAY)
    with snapshot():
        items = [*_sales(_sold(since, until)), *_refunds(_given(since, until)), *_others(since, until)]
    return sorted(items, key=lambda item: (item.day, item.key))


def open_items(days: Collection[dt.date], most: int | None = None) -> list[Item]:
    """The sales and refunds of these days that no row is matched with, the earliest first; at most `most` of each."""
    if not days:
        return []
    since, until = start_of_day(min(days)), start_of_day(max(days) + _ONE_DAY)
    with snapshot():
        sold = _still_open(_sold(since, until).filter(_on_days("at", days)), SALE).order_by("at", "pk")[:most]
        given = _still_open(_given(since, until).filter(_on_days("given_at", days)), GIVEN)
        return [*_sales(sold), *_refunds(given.order_by("given_at", "pk")[:most])]


def _on_days(at: str, days: Collection[dt.date]) -> Q:
    """The condition that this moment is on one of the days; one part for each span of days without a gap."""
    firsts = sorted(day for day in days if day - _ONE_DAY not in days)
    ends = sorted(day + _ONE_DAY for day in days if day + _ONE_DAY not in days)
    spans = zip(map(start_of_day, firsts), map(start_of_day, ends), strict=True)
    return reduce(or_, (Q(**{f"{at}__gte": since, f"{at}__lt": until}) for since, until in spans))


def open_sums(first: dt.date, last: dt.date, reached: Collection[dt.date]) -> tuple[list[OpenSum], list[Item]]:
    """The sums of the unmatched items, and the unmatched items that are neither sales nor refunds.

    Sales and refunds are added up by the database. `reached`: the days of the statements.
    """
    since, until = start_of_day(first), start_of_day(last + _ONE_DAY)
    with snapshot():
        sold = _sums_of_open(_still_open(_sold(since, until), SALE), first, last, sign=1)
        given = _sums_of_open(_still_open(_given(since, until), GIVEN), first, last, sign=-1)
        sums = [(first + (number - 1) * _ONE_DAY, n, amount) for number, n, amount in sold.union(given, all=True)]
        others = without_taken([*_others(since, until)])
    opened = [(day, n, amount, False) for day, n, amount in sums]
    opened += [(item.day, 1, item.amount, item.is_day) for item in others]
    return [
        OpenSum(day, _is_reached(day, reached, is_day=is_day), number, max(amount, 0), max(-amount, 0), is_day=is_day)
        for day, number, amount, is_day in opened
    ], others


def _sums_of_open(payments: QuerySet[Payment], first: dt.date, last: dt.date, *, sign: int) -> QuerySet[Any, Any]:
    """The number of the day, of its payments, and their rupiah; below zero for money that leaves the bank."""
    at, amount = ("at", "amount") if sign > 0 else ("given_at", "goes_back")
    by_day = payments.order_by().annotate(on_day=_number_of_day(at, first, last))
    sums: QuerySet[Any, Any] = by_day.values_list("on_day").annotate(n=Count("pk"), sum_of=Sum(amount) * sign)
    return sums


def sums_by_day(first: dt.date, last: dt.date, branch: int | None = None) -> dict[tuple[dt.date, str], tuple[int, int]]:
    """The rupiah that these days bring to the bank and take from it, by day and way to pay; "" for top-ups.

    The sums of the items of these days, matched with a row or not; added up by the database. `branch`: only its orders
    and its payments of credit; top-ups belong to the whole shop.
    """
    of_order = {} if branch is None else {"branch": branch}
    since, until = start_of_day(first), start_of_day(last + _ONE_DAY)
    methods = [method.code for method in bank_methods()]
    current = CreditEntry.objects.current().filter(at__gte=since, at__lt=until, method__in=methods)
    credit = credit_of_branch(current, branch)
    parts = [
        _day_sums(_to_the_bank(since, until).filter(method__in=methods, **of_order), first, last),
        _day_sums(_given(since, until).filter(**of_order), first, last, at="given_at", amount="goes_back", sign=-1),
        _day_sums(credit.filter(amount__lt=0), first, last, sign=-1),
        _day_sums(credit.filter(amount__gt=0), first, last, sign=-1),
    ]
    if branch is None:
        parts.append(_day_sums(_announced(since, until), first, last, at="announced_at", sign=-1))
    came: Counter[tuple[dt.date, str]] = Counter()
    left: Counter[tuple[dt.date, str]] = Counter()
    for number, method, amount in parts[0].union(*parts[1:], all=True):
        (came if amount > 0 else left)[first + (number - 1) * _ONE_DAY, method] += abs(amount)
    return {key: (came[key], left[key]) for key in sorted({*came, *left})}


def _day_sums(
    rows: QuerySet[Any], first: dt.date, last: dt.date, *, at: str = "at", amount: str = "amount", sign: int = 1
) -> QuerySet[Any, Any]:
    """The number of the day, the way to pay ("" for top-ups) and the sum, below zero if it leaves the bank."""
    method = {"given_at": F("given_method"), "announced_at": Value("")}.get(at, F("method"))
    by_day = rows.order_by().annotate(on_day=_number_of_day(at, first, last), by_method=method)
    sums: QuerySet[Any, Any] = by_day.values_list("on_day", "by_method").annotate(sum_of=Sum(F(amount)) * sign)
    return sums


def _number_of_day(at: str, first: dt.date, last: dt.date) -> Func:
    """The number, from 1, of the shop's day among these. Computing a row's date takes longer than adding the row."""
    days = Value([start_of_day(day) for day in days_from(first, last)], output_field=ArrayField(DateTimeField()))
    return Func(F(at), days, function="width_bucket", output_field=IntegerField())


def items_near(amount: int, day: dt.date, around: dt.timedelta, *, most: int) -> list[Item]:
    """The items that a row of this amount and day may be, up to `around` away: of the same sign, the likeliest first.

    The nearest by amount come first, then by day; matched items are left out. At most `most` sales or refunds are read
    on each side of the amount, however many there are.
    """
    since, until = start_of_day(day - around), start_of_day(day + around + _ONE_DAY)
    with snapshot():
        if amount > 0:
            sold = _nearest(_sold(since, until), SALE, amount, _apart("at", day), most)
            near = map(_sales, sold)
        else:
            given = _nearest(_given(since, until), GIVEN, -amount, _apart("given_at", day), most)
            near = map(_refunds, given)
        others = (item for item in _others(since, until) if (item.amount > 0) == (amount > 0))
        items = [*chain(*near), *others]
    return sorted(without_taken(items), key=lambda item: (abs(item.amount - amount), abs(item.day - day)))[:most]


def without_taken(items: list[Item]) -> list[Item]:
    """The items among these that no row is matched with."""
    taken = set(BankRow.objects.filter(item__in=[item.key for item in items]).values_list("item", flat=True))
    return [item for item in items if item.key not in taken]


def _nearest(
    payments: QuerySet[Payment], kind: str, amount: int, apart: Greatest, most: int
) -> list[QuerySet[Payment]]:
    """The unmatched payments with the nearest amounts, above and below; among equal amounts the least `apart` first."""
    column = "goes_back" if kind == GIVEN else "amount"
    still_open = _still_open(payments, kind)
    above = still_open.filter(**{f"{column}__gte": amount}).order_by(column, apart)
    below = still_open.filter(**{f"{column}__lt": amount}).order_by(f"-{column}", apart)
    return [above[:most], below[:most]]


def _still_open(payments: QuerySet[Payment], kind: str) -> QuerySet[Payment]:
    """The payments with which no row is matched."""
    return payments.exclude(Exists(BankRow.objects.filter(item=Concat(Value(f"{kind}:"), OuterRef("ref_id")))))


def _apart(at: str, day: dt.date) -> Greatest:
    """The distance of this moment from the middle of the day."""
    noon = Value(start_of_day(day) + dt.timedelta(hours=12))
    return Greatest(F(at) - noon, noon - F(at), output_field=DurationField())


def _to_the_bank(since: dt.datetime, until: dt.datetime) -> QuerySet[Payment]:
    sold = Payment.objects.filter(at__gte=since, at__lt=until, is_cash=False, debt__isnull=True, amount__gt=0)
    return sold.exclude(outcome=Outcome.NOTHING)


def _sold(since: dt.datetime, until: dt.datetime) -> QuerySet[Payment]:
    """Payments with a separate row at the bank."""
    methods = [method.code for method in bank_methods() if not method.is_paid_by_day]
    return _to_the_bank(since, until).filter(method__in=methods)


def _given(since: dt.datetime, until: dt.datetime) -> QuerySet[Payment]:
    """Refunds with a separate row; money that went back from an account is an entry of credit already."""
    methods = [method.code for method in bank_methods()]
    off_account = CreditEntry.objects.filter(kind=CreditEntry.Kind.PAID_BACK, ref_id=OuterRef("ref_id"))
    given = Payment.objects.filter(given_at__gte=since, given_at__lt=until, given_method__in=methods)
    return given.annotate(goes_back=TO_GIVE_BACK).filter(goes_back__gt=0).exclude(Exists(off_account))


def _sales(payments: QuerySet[Payment]) -> Iterator[Item]:
    for ref_id, at, amount, reference, method in payments.values_list("ref_id", "at", "amount", "reference", "method"):
        yield Item(f"{SALE}:{ref_id}", timezone.localdate(at), amount, reference, method=method)


def _refunds(payments: QuerySet[Any]) -> Iterator[Item]:
    for ref_id, given_at, amount, method in payments.values_list("ref_id", "given_at", "goes_back", "given_method"):
        yield Item(f"{GIVEN}:{ref_id}", timezone.localdate(given_at), -amount, method=method)


def _others(since: dt.datetime, until: dt.datetime) -> Iterator[Item]:
    """Payments of debts, top-ups, and the sums of days."""
    methods = [method.code for method in bank_methods()]
    by_day = {method.code for method in bank_methods() if method.is_paid_by_day}
    days: Counter[tuple[str, dt.date]] = Counter()

    first, last = timezone.localdate(since), timezone.localdate(until) - _ONE_DAY
    credit = CreditEntry.objects.current().filter(at__gte=since, at__lt=until, method__in=methods)
    sums, entries, topups = read_together(
        _day_sums(_to_the_bank(since, until).filter(method__in=by_day), first, last),
        credit.values_list("pk", "at", "method", "amount"),
        _announced(since, until).values_list("pk", "announced_at", "amount"),
    )

    for number, method, amount in sums:
        days[method, first + (number - 1) * _ONE_DAY] += amount

    for pk, at, method, amount in entries:
        day = timezone.localdate(at)
        if method in by_day and amount < 0:
            days[method, day] -= amount
        else:
            yield Item(f"{CREDIT}:{pk}", day, -amount, method=method)

    for pk, at, amount in topups:
        yield Item(f"{TOPUP}:{pk}", timezone.localdate(at), -amount)

    for (method, day), amount in days.items():
        if amount:
            yield Item(f"{method}:{day}", day, amount, is_day=True, method=method)


def _announced(since: dt.datetime, until: dt.datetime) -> QuerySet[ExpectedTopUp]:
    return ExpectedTopUp.objects.filter(announced_at__gte=since, announced_at__lt=until, cancelled_at=None)
