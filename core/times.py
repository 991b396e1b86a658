"""Times as people here read them."""

import datetime as dt
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_datetime, format_timedelta
from django.conf import settings
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext


def active_locale() -> str:
    """The language that is active, for Babel."""
    return get_language() or settings.LANGUAGE_CODE


def clock(at: dt.datetime | None) -> str:
    """`{{ at|clock }}`: the absolute time in Asia/Jakarta, to the second, e.g. "17 Nov 2026 14:05:09 WIB"."""
    return "–" if at is None else _clock(_in_shop(at), active_locale())


def time_of_day(at: dt.datetime) -> str:
    """The time of day in Asia/Jakarta, to the second: "14:05:09 WIB"."""
    return f"{_in_shop(at):%H:%M:%S} WIB"


def short_time(at: dt.datetime) -> str:
    """`{{ at|short_time }}`: the time of day if it is today, e.g. "14:05"; else with its day, "22 Aug, 14:05"."""
    return _short_time(_in_shop(at), _in_shop(timezone.now()), active_locale())


def _in_shop(at: dt.datetime) -> dt.datetime:
    """The time on the shop's clock, without its zone: Django would look it up each time, and nobody chooses another."""
    return at.astimezone(timezone.get_default_timezone()).replace(tzinfo=None)


def _clock(local: dt.datetime, locale: str) -> str:
    return _written(local, "d MMM yyyy HH:mm:ss", locale) + " WIB"


def _short_time(local: dt.datetime, now: dt.datetime, locale: str) -> str:
    day = "" if local.date() == now.date() else "d MMM, " if local.year == now.year else "d MMM yyyy, "
    return _written(local, f"{day}HH:mm", locale)


def hour(at: dt.time | dt.datetime | None) -> str:
    """`{{ at|hour }}`: the time of day to the minute, e.g. "14:05"; "14.05" in Indonesian."""
    if at is None:
        return "–"
    local = _in_shop(at) if isinstance(at, dt.datetime) else dt.datetime.combine(dt.date.min, at)
    return _written(local, "HH:mm", active_locale())


# Babel takes longer over these than the rest of a row does, and each view of a list writes the same again.
@lru_cache(maxsize=4096)
def _written(local: dt.datetime, pattern: str, locale: str) -> str:
    colon = Locale.parse(locale).number_symbols["latn"]["timeSeparator"]
    return format_datetime(local, pattern.replace(":", colon), locale=locale)


@lru_cache(maxsize=4096)
def _ago_in_words(seconds: int, locale: str) -> str:
    return format_timedelta(dt.timedelta(seconds=seconds), add_direction=True, locale=locale, threshold=0.99)


def day_words(text: object) -> str:
    """`{{ "2026-08-22"|day_words }}` (or of a date): "22 Aug 2026"; empty for an invalid day."""
    try:
        return _day_words(str(text), active_locale())
    except ValueError:
        return ""


@lru_cache(maxsize=4096)
def _day_words(day: str, locale: str) -> str:
    return format_date(shop_day(day), "d MMM yyyy", locale=locale)


def short_day(day: dt.date) -> str:
    """The day, with its year if it is not this one: "22 Aug", "22 Aug 2025"."""
    pattern = "d MMM" if day.year == timezone.localdate().year else "d MMM yyyy"
    return _written(dt.datetime.combine(day, dt.time.min), pattern, active_locale())


def days_words(since: str, until: str) -> str:
    """A span of days (ISO, each may be empty): "1–27 Nov 2026", "27 Nov 2026", "from 1 Nov 2026"; "" without any."""
    first, last = day_words(since), day_words(until)
    if not (first and last):
        words = gettext("from %(day)s") if first else gettext("until %(day)s") if last else ""
        return words % {"day": first or last} if words else ""
    if first == last:
        return first
    if since[:7] == until[:7]:
        return f"{shop_day(since).day}–{last}"
    return f"{first} – {last}"


def moment(at: dt.datetime | None) -> SafeString:
    """`{% moment at %}`: "14:05", or with its day "22 Aug, 14:05"; within an hour "14:05 (3 minutes ago)"."""
    if at is None:
        return SafeString("–")
    now, local, locale = timezone.now(), _in_shop(at), active_locale()
    shown = SafeString(
        f'<time datetime="{at.isoformat(timespec="seconds")}" title="{_clock(local, locale)}">'
        f"{_short_time(local, _in_shop(now), locale)}</time>"
    )
    if abs(now - at) < dt.timedelta(hours=1):
        return SafeString(f'{shown} <span class="age">({ago(at)})</span>')
    return shown


def ago(at: dt.datetime) -> SafeString:
    """`{% ago at %}`: "3 minutes ago", with the exact time in its tooltip; the page's script keeps it fresh."""
    locale = active_locale()
    shown = _ago_in_words((at - timezone.now()) // dt.timedelta(seconds=1), locale)
    stamp, exact = at.isoformat(timespec="seconds"), _clock(_in_shop(at), locale)
    return SafeString(f'<time datetime="{stamp}" title="{exact}" data-relative>{shown}</time>')


#: The years of the shop's days: the calendar's ends do not exist in every time zone.
YEARS = range(2000, 9000)


def shop_day(text: str) -> dt.date:
    """The day of the shop that this text names (ISO, e.g. 2026-08-22). Raises `ValueError` for another text."""
    day = dt.date.fromisoformat(text)
    # Python also reads "20260822" and "2026-W34-6"; such texts are in no order, and filters compare days as texts.
    if day.year not in YEARS or day.isoformat() != text:
        raise ValueError(text)
    return day


def asked_again_since(now: dt.datetime) -> dt.datetime:
    """The time from which people are asked about the same sale or slip: the start of the day, but at least an hour."""
    return min(start_of_day(timezone.localdate(now)), now - dt.timedelta(hours=1))


def shop_day_or_today(text: str) -> dt.date:
    """The day of the shop that this text names, else today."""
    try:
        return shop_day(text)
    except ValueError:
        return timezone.localdate()


def days_from(first: dt.date, last: dt.date) -> list[dt.date]:
    """The days from the first to the last one; none if the last one is earlier."""
    return [first + dt.timedelta(days=number) for number in range((last - first).days + 1)]


def start_of_day(day: dt.date) -> dt.datetime:
    """Midnight at which this day of the shop begins."""
    return timezone.make_aware(dt.datetime.combine(day, dt.time.min))
