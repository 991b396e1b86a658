"""Which list a file is of, and how that was narrowed, in words."""

from __future__ import annotations

from urllib.parse import parse_qsl

from django.http import QueryDict

from core.times import days_words
from exports.listing import listing_of
from exports.lists import LIST_WORDS
from exports.models import Export

# The days stand before all other filters; columns narrow nothing.
_NO_CHIPS = {"since", "until", "columns"}


def query_words(query: str) -> str:
    """The filters of an address: its days as people read them, the others as they are named there."""
    values = dict(parse_qsl(query))
    days = days_words(values.get("since", ""), values.get("until", ""))
    others = (f"{name}: {value}" for name, value in values.items() if name not in _NO_CHIPS)
    return ", ".join(filter(None, [days, *others]))


def file_words(export: Export) -> str:
    """Its list, its days, and its other filters as the list's page says them."""
    listing, values = listing_of(export.list_name), QueryDict(export.query)
    words = str(listing.words) if listing else str(LIST_WORDS.get(export.list_name, export.list_name))
    if listing is None or values.keys() <= _NO_CHIPS:
        return ", ".join(filter(None, [words, query_words(export.query)]))
    chips = [chip.words for chip in listing.find(values, export.owner).chips() if chip.name not in _NO_CHIPS]
    days = days_words(values.get("since", ""), values.get("until", ""))
    typed = f"“{values['q']}”" if values.get("q") else ""
    return ", ".join(filter(None, [words, days, typed, *chips]))
