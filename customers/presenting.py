"""Saved numbers as the pages show them."""

from urllib.parse import urlencode

from core.numbers import sees_whole_numbers
from customers.models import SavedNumber


def shown_number(number: SavedNumber) -> str:
    """The number, grouped for reading aloud, as the viewer may see it."""
    return number.kind.as_seen(number.destination)


def as_query(number: SavedNumber) -> str:
    """The number as the query string of the counter; empty for people who may not see it."""
    return urlencode({"q": number.destination}) if sees_whole_numbers() else ""
