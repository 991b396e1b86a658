"""The books in numbers: statement, daily closing, the curve. Days are the shop's own (Asia/Jakarta), amounts rupiah."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from core.times import start_of_day
from core.together import read_together
from ledger.models import Books, ClosedDay, Entry, OrderKind
from ledger.services.closing import (
    close_days,
    closing_from,
    closing_of,
    closing_questions,
    day_to_close,
    keep_running_day,
    newest_before,
    sums_key,
)
from policies.services import policies

_Kind = Entry.Kind
_ONE_DAY = dt.timedelta(days=1)
_USUAL_DAYS = 7
# The sums of a running day are stored when this many entries had to be added up.
_MOST_ADDED_UP = 1_000

# The entries behind each amount of a day's closing: the sums of a closed day by kind, and by kind of order.
_MADE_OF: dict[str, list[str]] = {
    "opened_with": [sums_key(_Kind.OPENING)],
    "purchases": [sums_key(_Kind.DEBIT, OrderKind.PURCHASE)],
    "bills": [sums_key(_Kind.DEBIT, OrderKind.BILL)],
    "refunds": [sums_key(_Kind.REFUND, kind) for kind in OrderKind],
    "reversals": [sums_key(_Kind.REVERSAL, kind) for kind in OrderKind],
    "top_ups": [sums_key(_Kind.TOPUP)],
    "adjustments": [sums_key(_Kind.ADJUSTMENT)],
}


@dataclass(frozen=True, kw_only=True)
class DayClosing:
    """One day of the books. `opening` + every other amount (signed) = `closing`; `lowest`: the least in between.

    `counts`: the number of entries in each amount, by its name.
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
        """Rupiah by which the closing balance differs from the opening one plus all amounts: always 0."""
        moved: int = sum(getattr(self, name) for name in _MADE_OF)
        return self.closing - self.opening - moved

    @property
    def adds_up(self) -> bool:
        """Whether the entries' amounts lead from the opening to the closing balance."""
        return self.off_by == 0


@dataclass(frozen=True, kw_only=True)
class Days:
    """The closings of some days, oldest first, with the books of that moment; `first_day`: that of the first entry."""

    books: Books
    first_day: dt.date | None
    closings: list[DayClosing]


def read_days(first: dt.date, last: dt.date) -> Days:
    """The closing of each day from `first` to `last`; a day without entries closes with its opening balance.

    Days that are over are closed now if nobody did that yet, and read from their rows; only today is added up.
    """
    days = _read_days(first, last)
    if not day_to_close(days.books, days.first_day):
        return days
    close_days()
    return _read_days(first, last)


def _read_days(first: dt.date, last: dt.date) -> Days:
    books, entries, rows, entries_before, *of_last = read_together(
        Books.objects.filter(only=True),
        Entry.objects.order_by("pk")[:1],
        ClosedDay.objects.filter(day__gte=first - _ONE_DAY, day__lte=last),
        newest_before(start_of_day(first)),
        *(closing_questions(last, is_running=True) if last >= timezone.localdate() else ()),
    )
    begin = timezone.localdate(entries[0].at) if entries else None
    kept = {row.day: row for row in rows}
    before = kept.get(first - _ONE_DAY)
    opening = before.balance if before else entries_before[0].balance_after if entries_before else 0
    if of_last:
        kept.setdefault(last, _running(last, *of_last))
    closings: list[DayClosing] = []
    for number in range((last - first).days + 1):
        day = first + number * _ONE_DAY
        row = kept.get(day) or (closing_of(day) if begin and day >= begin else ClosedDay(day=day, balance=0, lowest=0))
        closings.append(_as_closing(row, opening))
        opening = row.balance
    return Days(books=books[0] if books else Books(), first_day=begin, closings=closings)


def _running(day: dt.date, before: list[Entry], newest: list[Entry], made: list[Any], summed: list[Any]) -> ClosedDay:
    """The closing of a day that is not over, from the answers to its queries; stores the sums of many entries."""
    closing = closing_from(day, before, newest, made, summed)
    if sum(count for _kind, _order_kind, count, *_sums in made) > _MOST_ADDED_UP:
        keep_running_day(closing, newest[0])
    return closing


def _as_closing(row: ClosedDay, opening: int) -> DayClosing:
    none = {"count": 0, "balance": 0}
    made = {name: [row.sums.get(part, none) for part in parts] for name, parts in _MADE_OF.items()}
    return DayClosing(
        day=row.day,
        opening=opening,
        closing=row.balance,
        lowest=row.lowest,
        counts={name: sum(part["count"] for part in parts) for name, parts in made.items()},
        **{name: sum(part["balance"] for part in parts) for name, parts in made.items()},
    )


def balance_curve(days: int = 30) -> list[DayClosing]:
    """The last `days` days up to today, oldest first, without those before the books' first entry."""
    today = timezone.localdate()
    days_read = read_days(today - dt.timedelta(days=days - 1), today)
    return [day for day in days_read.closings if days_read.first_day and day.day >= days_read.first_day]


def usual_spending_per_hour() -> int | None:
    """Rupiah that orders took per hour of the last seven closed days, less refunds.

    None before a whole day is closed: the books' first day does not count, because it begins with their opening.
    """
    return usual_spending_of(spending_question())


def spending_question() -> QuerySet[ClosedDay, Any]:
    """The query for `read_together`; `usual_spending_of` reads its answer."""
    return ClosedDay.objects.order_by("-day").values_list("sums")[: _USUAL_DAYS + 1]


def usual_spending_of(answers: Iterable[Any]) -> int | None:
    """The result of `usual_spending_per_hour`, from the rows of `spending_question`."""
    days = [sums for (sums,) in answers]
    whole = days[:-1] if len(days) <= _USUAL_DAYS else days[:_USUAL_DAYS]
    if not whole:
        return None
    kinds = {_Kind.DEBIT, _Kind.REFUND, _Kind.REVERSAL}
    spent: int = sum(made["balance"] for sums in whole for key, made in sums.items() if key.partition(":")[0] in kinds)
    return max(0, round(-spent / (len(whole) * 24)))


def low_below(per_hour: int | None) -> int:
    """The balance in rupiah below which an alert opens: the policy's amount, or its hours at `per_hour` rupiah."""
    held = policies()
    return max(held.alert_low_balance, round((per_hour or 0) * held.alert_low_balance_hours))
