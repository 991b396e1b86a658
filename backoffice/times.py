"""Times as people here read them."""

import datetime as dt

from babel.dates import format_datetime
from django.conf import settings
from django.utils import timezone
from django.utils.translation import get_language


def active_locale() -> str:
    """The language that is active, for Babel."""
    return get_language() or settings.LANGUAGE_CODE


def clock(at: dt.datetime | None) -> str:
    """`{{ at|clock }}`: the absolute time in Asia/Jakarta, to the second, e.g. "17 Nov 2026 14.05.09 WIB"."""
    if at is None:
        return "–"
    return format_datetime(timezone.localtime(at), "d MMM yyyy HH:mm:ss", locale=active_locale()) + " WIB"
