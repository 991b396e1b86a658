"""The facts of audit events in words: events keep names and values of the code, which readers do not know.

Each room names its facts in `activity.py`.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Choices
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import pgettext

from audit.events import all_events, discover_events
from core.money import rupiah
from core.times import clock

_LONGEST = 80


@dataclass(frozen=True)
class Fact:
    """A fact, or a field before and after: its name, and the words of its value.

    `show`: the words of a number or a text; with `is_whole` also of a list, an object or None. `of`: the kind of row
    that its number names, as in `audit.subjects`.
    """

    words: Promise
    show: Callable[[Any], str] = str
    is_whole: bool = False
    of: str = ""


_FACTS: dict[str, Fact] = {}
_CODES: dict[str, dict[str, Promise]] = defaultdict(dict)


def name_facts(**facts: Fact) -> None:
    """Name facts that a room records."""
    if twice := _FACTS.keys() & facts:
        raise ValueError(f"named twice: {sorted(twice)}")
    _FACTS.update(facts)


def name_codes(fact: str, **words: Promise) -> None:
    """Give the words of a fact's codes; several rooms may have codes of the same fact."""
    _CODES[fact].update(words)


def all_facts() -> dict[str, Fact]:
    """Every fact that has a name."""
    discover_events()
    return _FACTS


def money(value: Any) -> str:
    """Rupiah, for `Fact.show`."""
    return rupiah(value) if isinstance(value, int) else str(value)


def choice_of(choices: type[Choices]) -> Callable[[Any], str]:
    """The label of one of these, for `Fact.show`; another value is returned unchanged."""
    return lambda value: str(choices(value).label) if value in choices.values else str(value)


def name_words(name: str) -> str:
    """The fact's name in words; the name itself if it has none."""
    fact = all_facts().get(name)
    return str(fact.words) if fact else name


def value_words(name: str, value: Any, kind: str = "") -> str:
    """Its value in the reader's words; a long one is cut. `kind`: the key of the event."""
    return Truncator(_said(name, value, kind)).chars(_LONGEST)


def change_words(name: str, before: Any, after: Any) -> str:
    """A field's value before and now. For a list: what was added and removed, because readers look for that."""
    if not (isinstance(before, list) and isinstance(after, list)):
        return f"{value_words(name, before)} → {value_words(name, after)}"
    came, went = ([item for item in here if item not in there] for here, there in ((after, before), (before, after)))
    moved = [f"+ {_said(name, item, '')}" for item in came] + [f"− {_said(name, item, '')}" for item in went]
    return ", ".join(moved) or pgettext("audit", "as before")


def _said(name: str, value: Any, kind: str) -> str:
    fact = all_facts().get(name)
    if fact and fact.is_whole:
        return fact.show(value)
    match value:
        case None | "":
            words = "–"
        case bool():
            words = pgettext("audit", "yes") if value else pgettext("audit", "no")
        case Mapping():
            words = ", ".join(f"{name_words(key)}: {_said(key, item, kind)}" for key, item in value.items())
        case list():
            words = ", ".join(_said(name, item, kind) for item in value)
        case str() if meaning := _reasons(name, kind).get(value) or _CODES[name].get(value):
            words = str(meaning)
        case str() if at := _moment_of(value):
            words = clock(at)
        case _:
            words = fact.show(value) if fact else str(value)
    return words


def _moment_of(text: str) -> dt.datetime | None:
    """The moment of a text in ISO 8601 with its offset, as events keep it; None for any other text."""
    try:
        at = dt.datetime.fromisoformat(text) if "T" in text[10:11] else None
    except ValueError:
        return None
    return at if at and at.tzinfo else None


def _reasons(name: str, kind: str) -> Mapping[str, Promise]:
    event = all_events().get(kind)
    return event.reasons if event and name == "reason" else {}
