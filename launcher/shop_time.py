"""Times as the shop writes them: people type and read the time of the pages (WIB), with any clock of the machine."""

import argparse
import datetime as dt
import re

# Indonesia's zones, without summer time. The shop's is the first, as TIME_ZONE in `backoffice/settings.py`.
ZONES = {name: dt.timezone(dt.timedelta(hours=hours), name) for name, hours in (("WIB", 7), ("WITA", 8), ("WIT", 9))}
ZONES["UTC"] = dt.timezone(dt.timedelta(0), "UTC")
SHOP = ZONES["WIB"]
_NAMED = re.compile(r"(?P<time>.*\d)\s*(?P<zone>WIB|WITA|WIT|UTC)", re.IGNORECASE)
_WANTED = "a time is written as '2026-11-26 14:05' (WIB), '2026-11-26 15:05 WITA', or 2026-11-26T07:05:00Z"


def moment(text: str) -> dt.datetime:
    """A time that a person has typed, with an offset or a zone name, else in the shop's zone."""
    named = _NAMED.fullmatch(text.strip())
    try:
        at = dt.datetime.fromisoformat(named["time"] if named else text.strip())
    except ValueError as error:
        raise argparse.ArgumentTypeError(_WANTED) from error
    if named and at.tzinfo:
        raise argparse.ArgumentTypeError(f"{text} names two zones; {_WANTED}")
    return at if at.tzinfo else at.replace(tzinfo=ZONES[named["zone"].upper()] if named else SHOP)


def in_words(at: dt.datetime) -> str:
    """A time for a person: in the shop's zone and in UTC."""
    return f"{at.astimezone(SHOP):%Y-%m-%d %H:%M:%S} WIB ({at.astimezone(dt.UTC):%H:%M:%S} UTC)"
