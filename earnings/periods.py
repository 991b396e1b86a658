"""The periods that people choose, each with the earlier one to which it is compared."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from babel.dates import format_date
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.times import active_locale, hour, shop_day_or_today, start_of_day
from earnings.services import Period

_ONE_DAY, _WEEK = dt.timedelta(days=1), dt.timedelta(days=7)
_MOST_DAYS = 5 * 366
OWN = "own"
NAMES: dict[str, str | Promise] = {
    "today": gettext_lazy("Today"),
    "yesterday": gettext_lazy("Yesterday"),
    "week": gettext_lazy("7 days"),
    "month": gettext_lazy("This month"),
    "last_month": gettext_lazy("Last month"),
}


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


def chosen_period(params: Mapping[str, str]) -> Chosen:
    """The period that the address names: `since` and `until`, or `period`; today without either."""
    now = timezone.now()
    if params.get("since") or params.get("until"):
        first, last = sorted(shop_day_or_today(params.get(name, "")) for name in ("since", "until"))
        first = max(first, last - _MOST_DAYS * _ONE_DAY)
        length = (last - first + _ONE_DAY).days * _ONE_DAY
        return _compared(OWN, Period(start_of_day(first), min(now, start_of_day(last + _ONE_DAY))), back=length)
    name = params.get("period", "")
    return named_period(name if name in NAMES else "today", now)


def named_period(name: str, now: dt.datetime) -> Chosen:
    """One of `NAMES` at this moment."""
    today = timezone.localdate(now)
    month = today.replace(day=1)
    last_month = (month - _ONE_DAY).replace(day=1)
    match name:
        case "yesterday":
            return _compared(name, Period.of_days(today - _ONE_DAY, today - _ONE_DAY), back=_WEEK)
        case "week":
            return _compared(name, Period(start_of_day(today - 6 * _ONE_DAY), now), back=_WEEK)
        case "month":
            reached = start_of_day(last_month) + (now - start_of_day(month))
            before = Period(start_of_day(last_month), min(reached, start_of_day(month)))
            return Chosen(name, Period(start_of_day(month), now), before)
        case "last_month":
            earlier = (last_month - _ONE_DAY).replace(day=1)
            period = Period.of_days(last_month, month - _ONE_DAY)
            return Chosen(name, period, Period.of_days(earlier, last_month - _ONE_DAY))
        case _:
            return _compared(name, Period(start_of_day(today), now), back=_WEEK)


def _compared(name: str, period: Period, *, back: dt.timedelta) -> Chosen:
    return Chosen(name, period, Period(period.since - back, period.until - back))


def _days(period: Period) -> str:
    first, last = (_day(day) for day in (period.first, period.last))
    return first if first == last else f"{first} – {last}"


def _day(day: dt.date) -> str:
    pattern = "EEE d MMM" if day.year == timezone.localdate().year else "EEE d MMM yyyy"
    return format_date(day, pattern, locale=active_locale())
