"""The books in numbers: statement, daily closing, the curve. Days are the shop's own (Asia/Jakarta), amounts rupiah."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Min, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from balance.models import Entry, OrderKind
from balance.models.ledger import EntryQuerySet

_Kind = Entry.Kind


@contextmanager
def one_moment() -> Iterator[None]:
    """Every query inside sees the database as it was at the first of them, whatever is committed meanwhile.

    For reading only: a write inside is refused. Inside a transaction that has begun already nothing changes.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@dataclass(frozen=True, kw_only=True)
class DayClosing:
    """One day of the books. `opening` + every other amount (signed) = `closing`; `lowest` was the least in between."""

    day: dt.date
    opening: int
    opened_with: int
    purchases: int
    bills: int
    refunds: int
    top_ups: int
    adjustments: int
    closing: int
    lowest: int

    @property
    def adds_up(self) -> bool:
        """Whether the entries' amounts lead from the opening to the closing balance that the entries themselves say."""
        moved = (self.opened_with, self.purchases, self.bills, self.refunds, self.top_ups, self.adjustments)
        return self.opening + sum(moved) == self.closing


def day_closings(first: dt.date, last: dt.date) -> list[DayClosing]:
    """The closing of each day from `first` to `last`, oldest first; a day without entries closes as it opened."""
    start, end = start_of_day(first), start_of_day(last + dt.timedelta(days=1))
    entries = Entry.objects.between(start, end).annotate(day=TruncDate("at", tzinfo=timezone.get_default_timezone()))
    moved: dict[dt.date, dict[tuple[str, str], int]] = defaultdict(dict)
    for day, kind, order_kind, total in (
        entries.order_by().values_list("day", "kind", "order_kind").annotate(total=Sum("balance_change"))
    ):
        moved[day][kind, order_kind] = total
    lowest = dict(entries.order_by().values_list("day").annotate(lowest=Min("balance_after")))
    newest = dict(entries.order_by("pk").values_list("day", "balance_after"))  # the last of each day stays
    before = Entry.objects.filter(at__lt=start).order_by("-pk").values_list("balance_after", flat=True).first()

    closings: list[DayClosing] = []
    balance = before or 0
    for number in range((last - first).days + 1):
        day = first + dt.timedelta(days=number)
        amounts = moved[day]
        closing = newest.get(day, balance)
        closings.append(
            DayClosing(
                day=day,
                opening=balance,
                opened_with=amounts.get((_Kind.OPENING, ""), 0),
                purchases=amounts.get((_Kind.DEBIT, OrderKind.PURCHASE), 0),
                bills=amounts.get((_Kind.DEBIT, OrderKind.BILL), 0),
                refunds=sum(amounts.get((_Kind.REFUND, kind), 0) for kind in OrderKind),
                top_ups=amounts.get((_Kind.TOPUP, ""), 0),
                adjustments=amounts.get((_Kind.ADJUSTMENT, ""), 0),
                closing=closing,
                lowest=min(balance, lowest.get(day, balance)),
            )
        )
        balance = closing
    return closings


def balance_curve(days: int = 30) -> list[DayClosing]:
    """The last `days` days up to today, oldest first, without those before the books were opened."""
    today = timezone.localdate()
    first_entry = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    if first_entry is None:
        return []
    first = max(today - dt.timedelta(days=days - 1), timezone.localdate(first_entry))
    return day_closings(first, today)


def statement(
    *,
    first: dt.date | None = None,
    last: dt.date | None = None,
    kinds: Sequence[str] = (),
    ref_id: str = "",
    with_holds: bool = True,
) -> EntryQuerySet:
    """Entries, oldest first, of these days (both included), kinds and order, each with its balance before and after."""
    found = Entry.objects.select_related("actor").order_by("pk")
    if first is not None:
        found = found.filter(at__gte=start_of_day(first))
    if last is not None:
        found = found.filter(at__lt=start_of_day(last + dt.timedelta(days=1)))
    if kinds:
        found = found.filter(kind__in=kinds)
    if ref_id:
        found = found.filter(ref_id=ref_id)
    return found if with_holds else found.exclude(balance_change=0)


def usual_spending_per_hour(now: dt.datetime) -> int | None:
    """Rupiah that the orders of the last week took in an hour, refunds deducted; None in the books' first day."""
    first = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    if first is None or now - first < dt.timedelta(days=1):
        return None
    since = max(first, now - dt.timedelta(days=7))
    spent = (
        Entry.objects.filter(at__gte=since, kind__in=[_Kind.DEBIT, _Kind.REFUND]).aggregate(t=Sum("balance_change"))[
            "t"
        ]
        or 0
    )
    return max(0, round(-spent / ((now - since).total_seconds() / 3600)))


def start_of_day(day: dt.date) -> dt.datetime:
    """Midnight at which this day of the shop begins."""
    return timezone.make_aware(dt.datetime.combine(day, dt.time.min))
