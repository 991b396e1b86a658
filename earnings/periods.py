"""The periods that people choose, each with the earlier one to which it is compared."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from babel.dates import format_date
from django.utils import timezone
from django.utils.translation import gettext as _

from core.periods import Period as Days
from core.times import active_locale, hour, shop_day_or_today, start_of_day
from earnings.services import Period

_ONE_DAY, _WEEK = dt.timedelta(days=1), dt.timedelta(days=7)
_MOST_DAYS = 5 * 366
OWN = "own"
_OFFERED = (Days.TODAY, Days.YESTERDAY, Days.DAYS_7, Days.WEEK, Days.LAST_WEEK, Days.MONTH, Days.LAST_MONTH)
#: What a click chooses, by the same names as in the list of orders.
NAMES = {days.value: days.label for days in _OFFERED}


@dataclass(frozen=True)
class Chosen:
    """A period, and the earlier one that is as long. `name`: one of `NAMES`, or "own" for days that were typed."""

    name: str
    period: Period
    before: Period

    @property
    def words(self) -> str:
        """Its days."""
        return _days(self.period)

    @property
    def against(self) -> str:
        """The earlier period in words, with the minute up to which it counts."""
        at = self.before.until
        if at == start_of_day(timezone.localdate(at)):
            return _("against %(days)s") % {"days": _days(self.before)}
        return _("against %(days)s, until %(time)s") % {"days": _days(self.before), "time": hour(at)}

    @property
    def query(self) -> str:
        """The days for an address that takes `since` and `until`."""
        return f"since={self.period.first.isoformat()}&until={self.period.last.isoformat()}"


def chosen_period(params: Mapping[str, str], *, most_days: int = _MOST_DAYS) -> Chosen:
    """The period that the address names: `since` and `until`, or `days`; today without either.

    Of more than `most_days` the last ones.
    """
    now = timezone.now()
    if params.get("since") or params.get("until"):
        first, last = sorted(shop_day_or_today(params.get(name, "")) for name in ("since", "until"))
        first = max(first, last - (most_days - 1) * _ONE_DAY)
        length = (last - first + _ONE_DAY).days * _ONE_DAY
        return _compared(OWN, Period(start_of_day(first), min(now, start_of_day(last + _ONE_DAY))), back=length)
    name = params.get("days", "")
    return named_period(name if name in NAMES else Days.TODAY, now)


def named_period(name: str, now: dt.datetime) -> Chosen:
    """One of `NAMES` at this moment."""
    days = Days(name)
    first, last = days.days(timezone.localdate(now))
    period = Period(start_of_day(first), min(now, start_of_day(last + _ONE_DAY)))
    if days not in {Days.MONTH, Days.LAST_MONTH}:
        return _compared(name, period, back=_WEEK)
    earlier = start_of_day((first - _ONE_DAY).replace(day=1))
    reached = earlier + (now - period.since) if days is Days.MONTH else period.since
    return Chosen(name, period, Period(earlier, min(reached, period.since)))


def _compared(name: str, period: Period, *, back: dt.timedelta) -> Chosen:
    return Chosen(name, period, Period(period.since - back, period.until - back))


def _days(period: Period) -> str:
    first, last = (_day(day) for day in (period.first, period.last))
    return first if first == last else f"{first} – {last}"


def _day(day: dt.date) -> str:
    pattern = "EEE d MMM" if day.year == timezone.localdate().year else "EEE d MMM yyyy"
    return format_date(day, pattern, locale=active_locale())
