"""Days at the bank: the money that the books expect on them, and what has arrived of it."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from bank.presenting import Statement, orders_by
from bank.services.items import OpenSum, sums_by_day
from core.times import day_words, days_words
from credit.methods import Method, bank_methods
from earnings.periods import Chosen

_ONE_DAY = dt.timedelta(days=1)


class Way(NamedTuple):
    """The rupiah that come by one way to pay; `url`: the orders that were paid by it."""

    method: Method
    amount: int
    url: str


@dataclass(frozen=True)
class BankDays:
    """The rupiah that the books expect at the bank from `day` to `last`: by way to pay, and those that leave.

    `query`: these days in an address. `opened`: the sums of unmatched items; None if they were not read. `unknown`: the
    rupiah that came in rows that the books do not know. `less`: the rupiah that came less than in the books.
    """

    words: str | Promise
    query: str
    day: dt.date
    last: dt.date
    ways: list[Way]
    left: int
    opened: list[OpenSum] | None = None
    unknown: int = 0
    less: int = 0

    @property
    def came(self) -> int:
        """The rupiah that come in all."""
        return sum(way.amount for way in self.ways)

    @property
    def missing(self) -> int:
        """The rupiah of payments that should have arrived and have not."""
        return sum(day.came for day in self.opened or [] if day.is_reached)

    @property
    def beyond(self) -> int:
        """The rupiah that come and are in no statement yet."""
        return sum(day.came for day in self.opened or [] if not day.is_reached)

    @property
    def arrived(self) -> int | None:
        """The rupiah that have arrived, less a fee; None if that is not known, or no statement has these days yet."""
        if self.opened is None or self.beyond == self.came:
            return None
        # A row that was matched by hand stays matched when its sale was undone.
        return max(self.came - self.missing - self.beyond - self.less, 0)

    @property
    def comes_later(self) -> str:
        """The ways whose providers pay by day, less a fee."""
        return ", ".join(str(way.method.words) for way in self.ways if way.amount and way.method.is_paid_by_day)


def expected_days(chosen: Chosen, today: dt.date, statement: Statement, branch: int | None = None) -> list[BankDays]:
    """Yesterday, today so far, and the chosen days if they differ; of one branch, if one is chosen.

    `statement`: that of the chosen days. It tells what is missing for the whole shop, not for a branch.
    """
    yesterday = today - _ONE_DAY
    first, last = chosen.period.first, chosen.period.last
    if last >= yesterday:
        sums = sums_by_day(min(first, yesterday), today, branch)
    else:
        sums = sums_by_day(first, last, branch) | sums_by_day(yesterday, today, branch)
    yesterday_words = _("Yesterday, %(day)s") % {"day": day_words(yesterday)}
    days = [
        _days_of(sums, yesterday_words, "days=yesterday", yesterday, yesterday, branch=branch),
        _days_of(sums, _("Today so far"), "days=today", today, today, branch=branch),
    ]
    if first != last or first not in {yesterday, today}:
        words = days_words(first.isoformat(), last.isoformat())
        days.append(_days_of(sums, words, urlencode(chosen.days), first, last, branch=branch))
    if branch is not None or not statement.reaches:
        return days
    return [_beside(statement, each) if first <= each.day <= each.last <= last else each for each in days]


def _beside(statement: Statement, days: BankDays) -> BankDays:
    """The same days with the sums that the statement has and lacks."""
    unknown, less = (
        sum(amount for day, amount in by_day.items() if days.day <= day <= days.last)
        for by_day in (statement.unknown, statement.less)
    )
    opened = [each for each in statement.opened if days.day <= each.day <= days.last]
    return replace(days, opened=opened, unknown=unknown, less=less)


def _days_of(
    sums: Mapping[tuple[dt.date, str], tuple[int, int]],
    words: str | Promise,
    query: str,
    first: dt.date,
    last: dt.date,
    *,
    branch: int | None,
) -> BankDays:
    came: Counter[str] = Counter()
    left = 0
    for (day, method), (comes, leaves) in sums.items():
        if first <= day <= last:
            came[method] += comes
            left += leaves
    ways = [Way(method, came[method.code], orders_by(method.code, first, last, branch)) for method in bank_methods()]
    return BankDays(words, query, first, last, ways if any(came.values()) else [], left)
