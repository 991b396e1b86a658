"""Which days the files of the bank have. A payment does not say to which account it goes, so all accounts count."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from bank.models import BankFile
from core.times import days_from

#: From the first to the last day, without a gap.
Span = tuple[dt.date, dt.date]

_ONE_DAY = dt.timedelta(days=1)
# How far from a day a file of an account must lie, at most, for that account to be waited for: else it was closed, or
# not yet read.
_NEAR = dt.timedelta(days=62)


def days_read() -> dict[str, list[Span]]:
    """The days that the files of each account have, by its name: each row of days without a gap, the earliest first.

    A day between two days of one file was read, also if nothing moved on it.
    """
    read: dict[str, list[Span]] = {}
    files = BankFile.objects.order_by("account__name", "first_day").distinct()
    for account, first, last in files.values_list("account__name", "first_day", "last_day"):
        if first is None or last is None:
            continue
        spans = read.setdefault(account, [])
        if spans and first <= spans[-1][1] + _ONE_DAY:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return read


def reached_days(read: Mapping[str, list[Span]], first: dt.date, last: dt.date) -> set[dt.date]:
    """Those of these days that every account has.

    An account is waited for from its first day on, but not without a file within two months.
    """

    def days(spans: list[Span], around: dt.timedelta = dt.timedelta()) -> set[dt.date]:
        clipped = ((max(since - around, first), min(until + around, last)) for since, until in spans)
        return {day for since, until in clipped for day in days_from(since, until)}

    had: set[dt.date] = set()
    awaited: set[dt.date] = set()
    for spans in read.values():
        of_account = days(spans)
        had |= of_account
        awaited |= {day for day in days(spans, _NEAR) - of_account if day >= spans[0][0]}
    return had - awaited
