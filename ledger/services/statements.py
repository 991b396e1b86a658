"""The books in numbers: statement, daily closing, the curve. Days are the shop's own (Asia/Jakarta), amounts rupiah."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from core.snapshot import snapshot
from core.times import start_of_day
from ledger.models import Entry, OrderKind

_Kind = Entry.Kind


# Which entries make each amount of a day's closing: their kind, and what their order is for.
_MADE_OF: dict[str, list[tuple[str, str]]] = {
    "opened_with": [(_Kind.OPENING, "")],
    "purchases": [(_Kind.DEBIT, OrderKind.PURCHASE)],
    "bills": [(_Kind.DEBIT, OrderKind.BILL)],
    "refunds": [(_Kind.REFUND, kind) for kind in OrderKind],
    "reversals": [(_Kind.REVERSAL, kind) for kind in OrderKind],
    "top_ups": [(_Kind.TOPUP, "")],
    "adjustments": [(_Kind.ADJUSTMENT, "")],
}


@dataclass(frozen=True, kw_only=True)
class DayClosing:
    """One day of the books. `opening` + every other amount (signed) = `closing`; `lowest` was the least in between.

    `counts`: how many entries made each amount, by its name.
    """

    day: dt.date
    opening: int
    opened_with: int
    purchases: int
    bills: int
    refunds: int
    reversals: int
    top_ups: int
    adjustments: int
    closing: int
    lowest: int
    counts: dict[str, int]

    @property
    def off_by(self) -> int:
        """Rupiah that lie between the entries and the closing balance that the entries themselves say: always 0."""
        moved: int = sum(getattr(self, name) for name in _MADE_OF)
        return self.closing - self.opening - moved

    @property
    def adds_up(self) -> bool:
        """Whether the entries' amounts lead from the opening to the closing balance."""
        return self.off_by == 0


def day_closings(first: dt.date, last: dt.date) -> list[DayClosing]:
    """The closing of each day from `first` to `last`, oldest first; a day without entries closes as it opened."""
    start, end = start_of_day(first), start_of_day(last + dt.timedelta(days=1))
    of_days = Entry.objects.between(start, end).annotate(day=TruncDate("at", tzinfo=timezone.get_default_timezone()))
    with snapshot():
        before = Entry.objects.filter(at__lt=start).order_by("-at", "-pk").values_list("balance_after", flat=True)[:1]
        balance = before[0] if before else 0
        found = list(
            of_days.order_by()
            .values_list("day", "kind", "order_kind")
            .annotate(Sum("balance_change"), Count("pk"), Min("balance_after"), Max("pk"))
        )
        newest: dict[dt.date, int] = {}
        for day, *_parts, pk in found:
            newest[day] = max(pk, newest.get(day, 0))
        after = dict(Entry.objects.filter(pk__in=newest.values()).values_list("pk", "balance_after"))

    sums: dict[dt.date, dict[tuple[str, str], tuple[int, int]]] = defaultdict(dict)
    lowest: dict[dt.date, int] = {}
    for day, kind, order_kind, total, count, least, _pk in found:
        sums[day][kind, order_kind] = total, count
        lowest[day] = min(least, lowest.get(day, least))

    closings: list[DayClosing] = []
    for number in range((last - first).days + 1):
        day = first + dt.timedelta(days=number)
        made = {name: [sums[day].get(part, (0, 0)) for part in parts] for name, parts in _MADE_OF.items()}
        closing = after[newest[day]] if day in newest else balance
        closings.append(
            DayClosing(
                day=day,
                opening=balance,
                closing=closing,
                lowest=min(balance, lowest.get(day, balance)),
                counts={name: sum(count for _total, count in parts) for name, parts in made.items()},
                **{name: sum(total for total, _count in parts) for name, parts in made.items()},
            )
        )
        balance = closing
    return closings


def first_day() -> dt.date | None:
    """The day of the books' first entry; None before it."""
    first = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    return timezone.localdate(first) if first else None


def balance_curve(days: int = 30) -> list[DayClosing]:
    """The last `days` days up to today, oldest first, without those before the books' first entry."""
    today, first = timezone.localdate(), first_day()
    if first is None:
        return []
    return day_closings(max(today - dt.timedelta(days=days - 1), first), today)


def usual_spending_per_hour(now: dt.datetime) -> int | None:
    """Rupiah that the orders of the last week took in an hour, less what came back; None in the books' first day."""
    first = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    if first is None or now - first < dt.timedelta(days=1):
        return None
    since = max(first, now - dt.timedelta(days=7))
    spent = (
        Entry.objects.filter(at__gte=since, kind__in=[_Kind.DEBIT, _Kind.REFUND, _Kind.REVERSAL]).aggregate(
            t=Sum("balance_change")
        )["t"]
        or 0
    )
    return max(0, round(-spent / ((now - since).total_seconds() / 3600)))
