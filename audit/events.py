"""The kinds of audit events: each is declared once, in `events.py` of the room that raises it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.parts import discover

_EVENTS: dict[str, Event] = {}


@dataclass(frozen=True)
class Event:
    """A kind of act of people. `key` is stored with each event and never changes.

    `about`: the kind of its subject, unless the subject says it itself, like "shift 8" (`audit.subjects`). `reasons`:
    the words of the codes that it has as a reason; other events have a person's own words as a reason.
    """

    key: str
    words: Promise
    about: str = ""
    reasons: Mapping[str, Promise] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.key in _EVENTS:
            raise ValueError(f"{self.key} is declared twice")
        _EVENTS[self.key] = self


def discover_events() -> None:
    """Import each room's events, once: their kinds, and how the activity log shows them."""
    discover("events", "activity")


def all_events() -> dict[str, Event]:
    """Every kind of event by its key."""
    discover_events()
    return _EVENTS


def event_label(key: str) -> str:
    """The words of this kind of event; the key itself for a kind that this version does not have."""
    event = all_events().get(key)
    return str(event.words) if event else key


def event_choices() -> list[tuple[str, str]]:
    """Every kind of event for a filter, by its words in the reader's language."""
    return sorted(((event.key, str(event.words)) for event in all_events().values()), key=lambda choice: choice[1])


SETTING_CHANGED = Event("setting_changed", _("Setting changed"), about="setting")
RESTORED = Event("restored", _("Database restored"))
