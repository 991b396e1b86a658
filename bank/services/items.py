"""What the books say should be at the bank: payments and refunds by transfer, days of QRIS and cards, top-ups."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import timezone

from core.snapshot import snapshot
from core.times import start_of_day
from credit.methods import bank_methods
from credit.models import CreditEntry
from drawers.models import Outcome, Payment
from reconciliation.models import ExpectedTopUp

SALE, GIVEN, CREDIT, TOPUP = "sale", "given", "credit", "topup"


@dataclass(frozen=True)
class Item:
    """`key`: its kind and what it is, as "sale:REF", "credit:8", "topup:3" or "qris:2026-11-25".

    `amount`: whole rupiah as the bank should have it, below zero what leaves it. `reference`: what its row may name.
    `is_day`: the sum of a day, from which the provider keeps a fee.
    """

    key: str
    day: dt.date
    amount: int
    reference: str = ""
    is_day: bool = False


def items_of(first: dt.date, last: dt.date) -> list[Item]:
    """Those of these days of the shop, the earliest first."""
    since, until = start_of_day(first), start_of_day(last + dt.timedelta(days=1))
    with snapshot():
        return sorted(_items(since, until), key=lambda item: (item.day, item.key))


def _items(since: dt.datetime, until: dt.datetime) -> Iterator[Item]:
    methods = [method.code for method in bank_methods()]
    by_day = {method.code for method in bank_methods() if method.is_paid_by_day}
    days: Counter[tuple[str, dt.date]] = Counter()

    sold = Payment.objects.filter(at__gte=since, at__lt=until, is_cash=False, debt__isnull=True, method__in=methods)
    sold = sold.exclude(outcome=Outcome.NOTHING)
    for ref_id, at, method, amount, reference in sold.values_list("ref_id", "at", "method", "amount", "reference"):
        day = timezone.localdate(at)
        if method in by_day:
            days[method, day] += amount
        elif amount:
            yield Item(f"{SALE}:{ref_id}", day, amount, reference)

    credit = CreditEntry.objects.current().filter(at__gte=since, at__lt=until, method__in=methods)
    for pk, at, method, amount in credit.values_list("pk", "at", "method", "amount"):
        day = timezone.localdate(at)
        if method in by_day and amount < 0:
            days[method, day] -= amount
        else:
            yield Item(f"{CREDIT}:{pk}", day, -amount)

    given = Payment.objects.filter(given_at__gte=since, given_at__lt=until, given_method__in=methods, amount__gt=0)
    for ref_id, given_at, amount in given.values_list("ref_id", "given_at", "amount"):
        yield Item(f"{GIVEN}:{ref_id}", timezone.localdate(given_at), -amount)

    announced = ExpectedTopUp.objects.filter(announced_at__gte=since, announced_at__lt=until, cancelled_at=None)
    for pk, at, amount in announced.values_list("pk", "announced_at", "amount"):
        yield Item(f"{TOPUP}:{pk}", timezone.localdate(at), -amount)

    for (method, day), amount in days.items():
        if amount:
            yield Item(f"{method}:{day}", day, amount, is_day=True)
