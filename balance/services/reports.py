"""The books as numbers for people: the balance over time, and what each day did to it. Amounts in rupiah."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import Count, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from balance.models import Books, Entry, OrderKind


def start_of_day(day: dt.date) -> dt.datetime:
    """When `day` begins in Asia/Jakarta."""
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))


@dataclass(frozen=True)
class DayEnd:
    """The balance with which a day ended, in rupiah; for today, the balance so far."""

    day: dt.date
    balance: int


def balance_curve(days: int = 30) -> list[DayEnd]:
    """How each of the last `days` days ended, oldest first, today last; none from before the books were opened."""
    opened_at = Books.objects.values_list("opened_at", flat=True).first()
    if opened_at is None:
        return []
    today = timezone.localdate()
    first = max(today - dt.timedelta(days=days - 1), timezone.localdate(opened_at))
    changed = dict(
        Entry.objects.filter(at__gte=start_of_day(first))
        .order_by()
        .values_list(TruncDate("at", tzinfo=timezone.get_current_timezone()))
        .annotate(total=Sum("balance_change"))
    )
    balance = _balance_before(start_of_day(first))
    curve = []
    for number in range((today - first).days + 1):
        day = first + dt.timedelta(days=number)
        balance += changed.get(day, 0)
        curve.append(DayEnd(day, balance))
    return curve


@dataclass(frozen=True, kw_only=True)
class ClosingLine:
    """What one sort of entries did to the balance in a day: how many, and rupiah (signed)."""

    name: str
    kind: str
    count: int
    amount: int


@dataclass(frozen=True, kw_only=True)
class DailyClosing:
    """A day (Asia/Jakarta) of the books, in rupiah. `closing` is read from the books, not computed from the lines."""

    day: dt.date
    opening: int
    lines: list[ClosingLine]
    closing: int
    held: int

    @property
    def moved(self) -> int:
        """All lines together."""
        return sum(line.amount for line in self.lines)

    @property
    def off_by(self) -> int:
        """What opening and lines lack to the closing: zero, or something is wrong with the books."""
        return self.closing - self.opening - self.moved

    def as_json(self) -> dict[str, object]:
        """The closing as a plain object, each line by its name."""
        amounts = {line.name: line.amount for line in self.lines}
        return {"day": self.day.isoformat(), "opening": self.opening, **amounts, "closing": self.closing}


# Each line of a closing: name, kind of entry, kind of order.
_LINES = (
    ("opened", Entry.Kind.OPENING, None),
    ("purchases", Entry.Kind.DEBIT, OrderKind.PURCHASE),
    ("bills", Entry.Kind.DEBIT, OrderKind.BILL),
    ("refunds", Entry.Kind.REFUND, None),
    ("topups", Entry.Kind.TOPUP, None),
    ("adjustments", Entry.Kind.ADJUSTMENT, None),
)


def daily_closing(day: dt.date) -> DailyClosing:
    """What `day` did to the balance. The first line, the opening of the books, is there on its own day only."""
    start, end = start_of_day(day), start_of_day(day + dt.timedelta(days=1))
    found = {
        (kind, order_kind): (count, amount)
        for kind, order_kind, count, amount in Entry.objects.between(start, end)
        .order_by()
        .values_list("kind", "order_kind")
        .annotate(count=Count("pk"), amount=Sum("balance_change"))
    }
    lines = []
    for name, kind, order_kind in _LINES:
        hits = [pair for (k, o), pair in found.items() if k == kind and order_kind in {None, o}]
        count, amount = sum(pair[0] for pair in hits), sum(pair[1] for pair in hits)
        if count or name != "opened":
            lines.append(ClosingLine(name=name, kind=kind.value, count=count, amount=amount))
    last = Entry.objects.filter(at__lt=end).order_by("-at", "-pk").first()
    return DailyClosing(
        day=day,
        opening=_balance_before(start),
        lines=lines,
        closing=last.balance_after if last else 0,
        held=last.held_after if last else 0,
    )


def first_day() -> dt.date | None:
    """The day of the first entry; None while there is none."""
    first = Entry.objects.order_by("at", "pk").first()
    return timezone.localdate(first.at) if first else None


def _balance_before(moment: dt.datetime) -> int:
    last = Entry.objects.filter(at__lt=moment).order_by("-at", "-pk").first()
    return last.balance_after if last else 0
