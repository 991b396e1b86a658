"""The filters of a list's address in words."""

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import parse_qsl

from core.filters import ListFilter
from core.times import days_words

# The days stand before all other filters; columns narrow nothing.
NO_FACTS = frozenset({"since", "until", "columns"})
# For files without a list, by their names: puts filters into words, and removes the values that are in the words.
SAID: dict[str, Callable[[dict[str, str]], Iterable[str]]] = {}


def query_words(query: str, of: str = "") -> str:
    """The filters of an address: its days as people read them, the others as in the address.

    `of`: the name of a file that may have words for its filters (`SAID`).
    """
    values = dict(parse_qsl(query))
    days = [days_words(values.get("since", ""), values.get("until", "")), *(SAID[of](values) if of in SAID else ())]
    others = (f"{name}: {value}" for name, value in values.items() if name not in NO_FACTS)
    return ", ".join(filter(None, [*days, *others]))


def in_words(filtered: ListFilter, values: Mapping[str, str]) -> str:
    """The filters of `values` in the words of the list's chips; unknown ones as in the address."""
    days = days_words(values.get("since", ""), values.get("until", ""))
    typed = f"“{values['q']}”" if values.get("q") else ""
    chips = [chip.words for chip in filtered.chips() if chip.name not in NO_FACTS]
    known = filtered.form.fields.keys() - filtered.form.errors.keys() | NO_FACTS | {"q"}
    others = [f"{name}: {value}" for name, value in values.items() if name not in known]
    return ", ".join(filter(None, [days, typed, *chips, *others]))
