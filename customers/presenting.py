"""Saved numbers as the pages show them."""

from __future__ import annotations

from urllib.parse import urlencode

from catalogue.destinations import DestinationKind, shown
from core.numbers import as_seen, sees_whole_numbers
from customers.models import SavedNumber


def shown_number(number: SavedNumber) -> str:
    """The number, grouped for reading aloud, as whoever looks may see it."""
    return as_seen(shown(DestinationKind(number.kind), number.destination))


def typed_parts(number: SavedNumber) -> dict[str, str]:
    """The number as people type it: a game account with a zone takes two fields."""
    if number.kind != DestinationKind.GAME_ZONE:
        return {"destination": number.destination}
    player, _dot, zone = number.destination.partition(".")
    return {"destination": player, "zone": zone}


def as_query(number: SavedNumber) -> str:
    """The number as the query string of a form that takes it; empty for whoever may not see it."""
    return urlencode(typed_parts(number)) if sees_whole_numbers() else ""
