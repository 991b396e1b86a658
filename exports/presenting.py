"""The filters of a list's address in words."""

from __future__ import annotations

from urllib.parse import parse_qsl

from core.times import days_words

# The days stand before all other filters; columns narrow nothing.
NO_FACTS = frozenset({"since", "until", "columns"})


def query_words(query: str) -> str:
    """The filters of an address: its days as people read them, the others as they are named there."""
    values = dict(parse_qsl(query))
    days = days_words(values.get("since", ""), values.get("until", ""))
    others = (f"{name}: {value}" for name, value in values.items() if name not in NO_FACTS)
    return ", ".join(filter(None, [days, *others]))
