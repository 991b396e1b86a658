"""Every kind of alert, one file each: to add one, add its file."""

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

from alerts.kinds.kind import AlertKind, Person, Words
from alerts.models import Alert
from core.access import may_open

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

KINDS: dict[str, AlertKind] = {kind.code: kind() for kind in AlertKind.__subclasses__()}


def in_words(alert: Alert, person: Person = None) -> Words:
    """The alert's words for this person, in the active language; without an address that the person may not open."""
    words = KINDS[alert.kind].words(alert.facts, person)
    return replace(words, url="") if person and words.url and not may_open(person, words.url) else words
