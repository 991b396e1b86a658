"""Reads the days that a typed line names: "minggu lalu", "25 nov", "3 days ago". Pure functions, both languages.

A day without a year is the newest one that is not in the future; a span ends on the first such day from its start on.
"""

import datetime as dt
import re
from collections.abc import Sequence

from core.periods import Period

_PERIODS = {
    Period.TODAY: ("hari ini", "today"),
    Period.YESTERDAY: ("kemarin", "yesterday"),
    Period.DAYS_7: ("7 hari terakhir", "7 hari", "seminggu", "last 7 days", "7 days"),
    Period.WEEK: ("minggu ini", "this week"),
    Period.LAST_WEEK: ("minggu lalu", "minggu kemarin", "last week"),
    Period.DAYS_30: ("30 hari terakhir", "30 hari", "sebulan", "last 30 days", "30 days"),
    Period.MONTH: ("bulan ini", "this month"),
    Period.LAST_MONTH: ("bulan lalu", "bulan kemarin", "last month"),
}
# The longest first: "minggu lalu" is not "minggu ini".
_BY_WORDS = sorted(
    ((phrase.split(), period) for period, phrases in _PERIODS.items() for phrase in phrases),
    key=lambda row: -len(row[0]),
)
_MONTHS = [
    ("jan", "january", "januari"),
    ("feb", "february", "februari", "peb"),
    ("mar", "march", "maret"),
    ("apr", "april"),
    ("may", "mei"),
    ("jun", "june", "juni"),
    ("jul", "july", "juli"),
    ("aug", "august", "agustus", "agu", "ags", "agt"),
    ("sep", "sept", "september"),
    ("oct", "october", "okt", "oktober"),
    ("nov", "november", "nop", "nopember"),
    ("dec", "december", "des", "desember"),
]
# Monday first.
_WEEKDAYS = [
    ("senin", "monday", "mon"),
    ("selasa", "tuesday", "tue"),
    ("rabu", "wednesday", "wed"),
    ("kamis", "thursday", "thu"),
    ("jumat", "jum'at", "friday", "fri"),
    ("sabtu", "saturday", "sat"),
    ("minggu", "ahad", "sunday", "sun"),
]
_WEEKDAY_OF = {word: number for number, words in enumerate(_WEEKDAYS) for word in words}
_MONTH_OF = {word: number for number, words in enumerate(_MONTHS, start=1) for word in words}
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"20\d\d")
# Day first, as people write in both languages; dashes and dots need the year: they stand in numbers, too.
_NUMERIC = [
    re.compile(r"(?P<day>\d{1,2})/(?P<month>\d{1,2})(?:/(?P<year>20\d\d|\d\d))?"),
    re.compile(r"(?P<day>\d{1,2})-(?P<month>\d{1,2})-(?P<year>20\d\d|\d\d)"),
    re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>20\d\d|\d\d)"),
    re.compile(r"(?P<year>20\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})"),
]
_AGO = re.compile(
    r"(?:(?:(?P<jumlah>\d{1,3}) |se)(?P<satuan>hari|minggu|bulan) (?:yang )?lalu"
    r"|(?P<count>\d{1,3}|an?) (?P<unit>day|week|month)s? ago)(?!\S)"
)
_UNITS = {"hari": "day", "minggu": "week", "bulan": "month"}
# People who count in weeks or months remember so many days more or less. The calendar's week or month is "last week".
_DAYS_OF, _VAGUE_BY = {"day": 1, "week": 7, "month": 30}, {"day": 0, "week": 3, "month": 15}
_AS_PERIOD = {"day": Period.YESTERDAY, "week": Period.LAST_WEEK, "month": Period.LAST_MONTH}
_LAST_DAYS = re.compile(r"(?:(\d{1,3}) hari terakhir|(?:last|past) (\d{1,3}) days)(?!\S)")
_BETWEEN = ("antara", "between")
_FROM = ("dari", "sejak", "mulai", "from", "since")
_ON = ("tanggal", "tgl", "pada", "on")
_TO = ("-", "–", "sampai", "hingga", "s/d", "sd", "to", "until", "till")
_AND = ("dan", "and")

Found = tuple[dict[str, str], int]
_Date = tuple[int, int, int | None]  # day, month, year


def days_at(words: Sequence[str], today: dt.date, *, is_for_sums: bool = False) -> Found | None:
    """The filters for the days with which the words begin, and how many words these are; None without days.

    `is_for_sums`: "a week ago" is last week, from Monday to Sunday. Else it is the days around the day a week ago.
    """
    ways = (
        _period_at(words),
        _ago_at(words, today, is_for_sums=is_for_sums),
        _dates_at(words, today),
        _weekday_at(words, today),
    )
    return max((way for way in ways if way), key=lambda way: way[1], default=None)


def _period_at(words: Sequence[str]) -> Found | None:
    for phrase, period in _BY_WORDS:
        if list(words[: len(phrase)]) == phrase:
            return {"days": period.value}, len(phrase)
    return None


def _ago_at(words: Sequence[str], today: dt.date, *, is_for_sums: bool) -> Found | None:
    """ "3 hari lalu", "a week ago", "14 hari terakhir"."""
    line = " ".join(words[:4])
    if match := _LAST_DAYS.match(line):
        count = int(match[1] or match[2])
        return (_span(today - dt.timedelta(days=count - 1), today), 3) if count else None
    match = _AGO.match(line)
    if not match:
        return None
    typed, unit = match["jumlah"] or match["count"] or "", match["unit"] or _UNITS[match["satuan"]]
    count, length = int(typed) if typed.isdigit() else 1, len(match[0].split())
    if count == 1 and (is_for_sums or unit == "day"):
        return {"days": _AS_PERIOD[unit].value}, length
    if is_for_sums and unit != "day":
        return _of_calendar(today, weeks=count) if unit == "week" else _of_calendar(today, months=count), length
    day, around = today - dt.timedelta(days=count * _DAYS_OF[unit]), dt.timedelta(days=_VAGUE_BY[unit])
    return _span(day - around, min(day + around, today)), length


def _of_calendar(today: dt.date, *, weeks: int = 0, months: int = 0) -> dict[str, str]:
    """The whole week, or the whole month, so many before this one."""
    if weeks:
        monday = today - dt.timedelta(days=today.weekday() + 7 * weeks)
        return _span(monday, monday + dt.timedelta(days=6))
    number = today.year * 12 + today.month - 1 - months
    first = dt.date(number // 12, number % 12 + 1, 1)
    return _span(first, min((first + dt.timedelta(days=31)).replace(day=1) - dt.timedelta(days=1), today))


def _weekday_at(words: Sequence[str], today: dt.date) -> Found | None:
    """ "jumat", "jumat lalu", "hari jumat kemarin", "on friday", "last friday": the newest one before today.

    "minggu" alone may be a week: it is the Sunday only with "hari" before it.
    """
    before = 1 if len(words) > 1 and words[0] in {"hari", "last", *_ON} else 0
    name = words[before] if words else ""
    if name not in _WEEKDAY_OF or (name == "minggu" and words[0] != "hari"):
        return None
    behind = 1 if words[before + 1 : before + 2] in (["lalu"], ["kemarin"]) else 0
    day = today - dt.timedelta(days=(today.weekday() - _WEEKDAY_OF[name] - 1) % 7 + 1)
    return _span(day, day), before + 1 + behind


def _dates_at(words: Sequence[str], today: dt.date) -> Found | None:
    """ "25 nov", "tanggal 25/11", "1 - 15 november", "dari 1 nov sampai 5 nov", "since 25 november"."""
    before = 1 if words and words[0] in {*_BETWEEN, *_FROM, *_ON} else 0
    is_between = words[:1] and words[0] in _BETWEEN
    span = _span_at(words[before:], today, links=(*_TO, *_AND) if is_between else _TO)
    if span:
        return span[0], before + span[1]
    date = None if is_between else _date_at(words[before:])
    day = date and _newest(date[0], today)
    if not date or not day:
        return None
    is_open = before and words[0] in _FROM
    return ({"since": day.isoformat()} if is_open else _span(day, day)), before + date[1]


def _span_at(words: Sequence[str], today: dt.date, *, links: Sequence[str]) -> Found | None:
    """Two dates with a link between them; the first may be a day alone (`_with_month_of`)."""
    first = _date_at(words)
    count = first[1] if first else 1
    if len(words) <= count or words[count] not in links or not (second := _date_at(words[count + 1 :])):
        return None
    alone = _DAY.fullmatch(words[0])
    begin = first[0] if first else _with_month_of(second[0], int(alone[1])) if alone else None
    since = begin and _newest(begin, today)
    until = since and _first_from(second[0], since)
    return (_span(since, until), count + 1 + second[1]) if since and until else None


def _with_month_of(second: _Date, day: int) -> _Date:
    """This day in the month of the second date; in the month before if it is later than the second: "30 - 2 nov"."""
    last, month, year = second
    if day <= last:
        return day, month, year
    return (day, month - 1, year) if month > 1 else (day, 12, year and year - 1)


def _date_at(words: Sequence[str]) -> tuple[_Date, int] | None:
    """The date with which the words begin, and its number of words: "25 nov 2026", "nov 25", "25/11", "25-11-2026"."""
    for match in (pattern.fullmatch(words[0]) for pattern in _NUMERIC if words):
        if match:
            year = match["year"] and int(match["year"]) % 100 + 2000
            return (int(match["day"]), int(match["month"]), year or None), 1
    if len(words) < 2:
        return None
    day, month = (words[0], words[1]) if words[1] in _MONTH_OF else (words[1], words[0])
    number = _DAY.fullmatch(day)
    if not number or month not in _MONTH_OF:
        return None
    has_year = bool(words[2:]) and bool(_YEAR.fullmatch(words[2]))
    return (int(number[1]), _MONTH_OF[month], int(words[2]) if has_year else None), 2 + has_year


def _newest(date: _Date, today: dt.date) -> dt.date | None:
    """The newest such day that is not in the future; the day itself with a year. None if there is no such day."""
    years = range(today.year, today.year - 8, -1)  # 29 February comes within 8 years
    days = (_day(date, year) for year in years)
    return _day(date, date[2]) if date[2] else next((day for day in days if day and day <= today), None)


def _first_from(date: _Date, since: dt.date) -> dt.date | None:
    """The first such day from `since` on."""
    days = (_day(date, date[2] or year) for year in range(since.year, since.year + 9))
    return next((day for day in days if day and day >= since), None)


def _day(date: _Date, year: int) -> dt.date | None:
    try:
        return dt.date(year, date[1], date[0])
    except ValueError:
        return None


def _span(first: dt.date, last: dt.date) -> dict[str, str]:
    return {"since": first.isoformat(), "until": last.isoformat()}
