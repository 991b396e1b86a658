"""The periods that people choose, each with the earlier period of its comparison."""

import datetime as dt
from calendar import monthrange
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from babel.dates import format_date
from django.utils import timezone
from django.utils.translation import gettext as _

from branches.seeing import names_branches, own_branch
from branches.services import all_branches, branch_name
from core.periods import Period as Days
from core.times import active_locale, hour, shop_day, shop_day_or_today, start_of_day
from earnings.services import Period

_ONE_DAY, _WEEK = dt.timedelta(days=1), dt.timedelta(days=7)
_MOST_DAYS = 5 * 366
#: At most this many days of one branch: the sums of days are for all branches, so its orders are read.
MOST_READ = 31
OWN = "own"
#: The periods that a click chooses, by the same names and in the same order as in the list of orders.
NAMES = {days.value: days.label for days in Days if days is not Days.DAYS_30}
# On their first day they are this one day.
_LONGER = (Days.WEEK, Days.MONTH)


class Other(NamedTuple):
    """Days that people often compare with. `name` is for scripts and tests; `address`: with these days."""

    name: str
    words: str
    address: str
    is_chosen: bool


@dataclass(frozen=True)
class Chosen:
    """A period, and the period before: an earlier one of the same length, else typed days (`is_against_own`).

    `name`: one of `NAMES`, or "own" for typed days. `branch`: the key of the only branch that counts.
    """

    name: str
    period: Period
    before: Period
    is_against_own: bool = False
    branch: int | None = None

    @property
    def words(self) -> str:
        """Its days."""
        return _days(self.period)

    @property
    def words_before(self) -> str:
        """The words for the days of the comparison."""
        return _days(self.before)

    @property
    def title(self) -> str:
        """The days as the head of a page: a single day with its full name, and with that of a longer period."""
        if self.period.first != self.period.last:
            return self.words
        day = format_date(self.period.first, "EEEE d MMMM", locale=active_locale())
        return f"{NAMES[self.name]}: {day}" if self.name in _LONGER else day

    @property
    def against(self) -> str:
        """The earlier period in words, with the minute up to which it counts."""
        at = self.before.until
        if at == start_of_day(timezone.localdate(at)):
            return _("against %(days)s") % {"days": _days(self.before)}
        return _("against %(days)s, until %(time)s") % {"days": _days(self.before), "time": hour(at)}

    @property
    def query(self) -> str:
        """The days and the branch for an address that takes `since`, `until` and `branch`."""
        return urlencode(self.dates | self.of_branch)

    @property
    def dates(self) -> dict[str, str]:
        """Its first and last day, as an address names them."""
        return _days_named(self.period)

    @property
    def days(self) -> dict[str, str]:
        """The parameters that name the period in an address of earnings: days that move with the time, or dates."""
        return {"days": self.name} if self.name in NAMES else self.dates

    @property
    def against_days(self) -> dict[str, str]:
        """The parameters that name the days of the comparison in an address; empty for those just before."""
        return _days_named(self.before, "against_") if self.is_against_own else {}

    @property
    def of_branch(self) -> dict[str, str]:
        """The parameter that names the branch in an address; empty for all."""
        return {} if self.branch is None else {"branch": str(self.branch)}

    @property
    def branch_name(self) -> str:
        """The name of the branch; empty for all."""
        return "" if self.branch is None else branch_name(self.branch)

    @property
    def besides(self) -> dict[str, str]:
        """The parameters of an address other than the days."""
        return self.against_days | self.of_branch

    @property
    def address(self) -> str:
        """The parameters that the addresses of earnings keep."""
        return urlencode(self.days | self.besides)

    @property
    def others(self) -> list[Other]:
        """The usual days to compare with, the same days a month before (for a month at most), and a year before."""
        usual = replace(self, is_against_own=False)
        others = [Other("usual", _("The usual days"), usual.address, is_chosen=not self.is_against_own)]
        if self.period.first >= _months_before(self.period.last, 1):
            others.append(self._months_before("month", _("The same days a month before"), 1))
        return [*others, self._months_before("year", _("The same days a year before"), 12)]

    def _months_before(self, name: str, words: str, months: int) -> Other:
        other = replace(self, before=_earlier(self.period, months), is_against_own=True)
        return Other(name, words, other.address, is_chosen=other.address == self.address)


def chosen_period(params: Mapping[str, str], *, most_days: int = _MOST_DAYS) -> Chosen:
    """The period that the address names: `since` and `until`, today at the latest, or `days`; today without either.

    `since` alone begins days until today, `until` alone is that one day.

    If there are more than `most_days`, the last ones.
    """
    now = timezone.now()
    if params.get("since") or params.get("until"):
        today = timezone.localdate(now)
        until = params.get("until", "")
        typed = (params.get("since") or until, until)
        first, last = sorted(min(today, shop_day_or_today(text)) for text in typed)
        first = max(first, last - (most_days - 1) * _ONE_DAY)
        length = (last - first + _ONE_DAY).days * _ONE_DAY
        return _compared(OWN, Period(start_of_day(first), min(now, start_of_day(last + _ONE_DAY))), back=length)
    name = params.get("days", "")
    return named_period(name if name in Days.values else Days.TODAY, now)


def compared_period(params: Mapping[str, str]) -> Chosen:
    """The result of `chosen_period`, compared with the days `against_since` and `against_until` of the address, if any.

    `branch` limits it to the sales of that branch, for a reader who sees several; one branch has `MOST_READ` days at
    most.
    """
    branch = {str(key): key for key in all_branches()}.get(params.get("branch", "")) if names_branches() else None
    most_days = _MOST_DAYS if branch is None and own_branch() is None else MOST_READ
    chosen = replace(chosen_period(params, most_days=most_days), branch=branch)
    days: list[dt.date] = []
    for name in ("against_since", "against_until"):
        with suppress(ValueError):
            days.append(min(shop_day(params.get(name, "")), timezone.localdate()))
    if not days:
        return chosen
    first = max(min(days), max(days) - (most_days - 1) * _ONE_DAY)
    before = Period(start_of_day(first), min(timezone.now(), start_of_day(max(days) + _ONE_DAY)))
    return replace(chosen, before=_up_to_same_time(before, chosen.period), is_against_own=True)


def _up_to_same_time(before: Period, period: Period) -> Period:
    """The days `before` up to the time that `period` has reached; whole if its days are over, or more, or fewer."""
    if before.last - before.first != period.last - period.first:
        return before
    left = start_of_day(period.last + _ONE_DAY) - period.until
    return Period(before.since, min(before.until, start_of_day(before.last + _ONE_DAY) - left))


def left_out(params: Mapping[str, str], chosen: Chosen, by: str) -> list[str]:
    """The parts of the address that were not understood, such as `days=40`. `chosen` and `by`: the understood ones."""
    # One branch has no lines by branch, and a reader of one branch has no choice: nothing was left out.
    in_branch = chosen.branch is not None or not names_branches()
    by_branch = in_branch and params.get("by") == "branch"
    known = {"days": params.get("days", "") in Days.values, "by": params.get("by") == by or by_branch}
    known |= {"branch": in_branch}
    known |= {name: _is_day(params.get(name, "")) for name in ("since", "until", "against_since", "against_until")}
    return [f"{name}={params[name]}" for name, is_known in known.items() if params.get(name) and not is_known]


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return bool(shop_day(text))
    return False


def named_period(name: str, now: dt.datetime) -> Chosen:
    """One of `Days` at this moment."""
    days = Days(name)
    first, last = days.days(timezone.localdate(now))
    period = Period(start_of_day(first), min(now, start_of_day(last + _ONE_DAY)))
    if days not in {Days.MONTH, Days.LAST_MONTH}:
        return _compared(name, period, back=(last - first + _ONE_DAY) if days is Days.DAYS_30 else _WEEK)
    earlier = start_of_day((first - _ONE_DAY).replace(day=1))
    reached = earlier + (now - period.since) if days is Days.MONTH else period.since
    return Chosen(name, period, Period(earlier, min(reached, period.since)))


def _compared(name: str, period: Period, *, back: dt.timedelta) -> Chosen:
    return Chosen(name, period, Period(period.since - back, period.until - back))


def _earlier(period: Period, months: int) -> Period:
    """The same days, `months` months before; whole months for whole months."""
    first, last = (_months_before(day, months) for day in (period.first, period.last))
    if period.first.day == 1 == (period.last + _ONE_DAY).day:
        last = last.replace(day=monthrange(last.year, last.month)[1])
    return Period.of_days(first, last)


def _months_before(day: dt.date, months: int) -> dt.date:
    """The same day `months` months before, or the last day of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return dt.date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _days_named(period: Period, prefix: str = "") -> dict[str, str]:
    return {f"{prefix}since": period.first.isoformat(), f"{prefix}until": period.last.isoformat()}


def _days(period: Period) -> str:
    first, last = (_day(day) for day in (period.first, period.last))
    return first if first == last else f"{first} – {last}"


def _day(day: dt.date) -> str:
    pattern = "EEE d MMM" if day.year == timezone.localdate().year else "EEE d MMM yyyy"
    return format_date(day, pattern, locale=active_locale())
