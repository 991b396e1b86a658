"""Finds the days that the files of the bank have. A payment does not name its account, so all accounts count."""

import datetime as dt
from collections.abc import Mapping

from django.db.models import F
from django.db.models.functions import Least, TruncDate

from bank.models import BankFile
from core.times import days_from

#: From the first to the last day, without a gap.
Span = tuple[dt.date, dt.date]

_ONE_DAY = dt.timedelta(days=1)
# A day waits for an account only if the account has a file within this distance: else the account was closed, or not
# yet read.
_NEAR = dt.timedelta(days=62)


def days_read(*, until_over: bool = False) -> dict[str, list[Span]]:
    """The days that the files of each account have, by its name: spans without a gap, the earliest first.

    A day between two days of one file was read, also if nothing moved on it. `until_over`: without days that were not
    over when their file was read; for a file with only such days, an empty span says from when its account counts.
    """
    read: dict[str, list[Span]] = {}
    files = BankFile.objects.exclude(first_day=None).exclude(last_day=None).order_by("account__name", "first_day")
    last_day = Least("last_day", TruncDate(F("read_at") - _ONE_DAY)) if until_over else F("last_day")
    for account, first, until in files.distinct().values_list("account__name", "first_day", last_day):
        last = max(until, first - _ONE_DAY)
        spans = read.setdefault(account, [])
        if spans and first <= spans[-1][1] + _ONE_DAY:
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return read


def reached_days(read: Mapping[str, list[Span]], first: dt.date, last: dt.date) -> set[dt.date]:
    """The days among these that every account has.

    An account counts from its first day on, but only near a file, within two months.
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
