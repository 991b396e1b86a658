"""The subjects of audit events, in words, with a link for readers who may open it.

Each room registers its own subjects in `activity.py`. The kind of an event says the kind of its subject
(`Event.about`); other subjects say it themselves: "shift 8", "approval:7". All subjects of a page are read at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.events import all_events, discover_events
from audit.facts import all_facts
from audit.models import AuditEvent

if TYPE_CHECKING:
    from staff.models import User

Rows: TypeAlias = Mapping[str, Any]
ANY = ".+"
_SAID = re.compile(r"([a-z_]+)[ :](.+)")


class About(NamedTuple):
    """The subject of one event. `sub`: its code beside a name. `url`: empty without a page that the reader may open."""

    words: str
    url: str = ""
    sub: str = ""
    is_code: bool = False

    def as_html(self) -> SafeString:
        """The subject as HTML for a cell."""
        words = (
            format_html('<span class="mono">{}</span>', self.words) if self.is_code else format_html("{}", self.words)
        )
        shown = format_html('<a href="{}">{}</a>', self.url, words) if self.url else words
        return format_html('{} <span class="sub">{}</span>', shown, self.sub) if self.sub else shown


class Seen(NamedTuple):
    """The input of `Subject.about`: the reader, the rows that it asked for, by key, and the event's facts."""

    reader: User
    rows: Rows
    facts: Mapping[str, Any]


class Subject:
    """A kind of subject: the words of a key ("Shift no. %(number)s"), its page, and the right to open it.

    `model`, `by`: the model with its name, and the field with the key; a deleted row is shown by its number. `keys`:
    the pattern of a key. Without words and model the key itself is shown.
    """

    def __init__(
        self,
        name: str,
        words: Promise | str = "%(number)s",
        page: str = "",
        *rights: str,
        model: type[Model] | None = None,
        by: str = "pk",
        keys: str = r"\d{1,18}",
    ) -> None:
        self.name, self.words, self.page, self.rights = name, words, page, rights
        self.model, self.by, self.keys = model, by, re.compile(keys)

    def rows(self, keys: set[str]) -> Iterable[Any]:
        """The rows with these keys, for `about`."""
        return () if self.model is None else self.model._default_manager.filter(**{f"{self.by}__in": keys})

    def key_of(self, row: Any) -> str:
        """The key of one of these rows."""
        return str(getattr(row, self.by))

    def about(self, key: str, seen: Seen) -> About | None:
        """The row with this key, or None."""
        words, row = str(self.words) % {"number": key}, seen.rows.get(key)
        if self.model is None:
            return About(words, self.url(seen.reader, key))
        return About(row.name, self.url(seen.reader, key), words) if row else About(words)

    def number_words(self, key: str, rows: Rows) -> str | None:
        """The name, for a fact that holds only the number; None if there is no row with it."""
        return str(rows[key].name) if key in rows else None

    def numbers(self, key: str, rows: Rows) -> Collection[str]:
        """The customers' numbers of this key of which no page shows the full number any more."""
        return ()

    def url(self, reader: User, *args: Any) -> str:
        """Its page; empty for a reader who may not open it."""
        return reverse(self.page, args=args) if self.page and reader.has_perms(self.rights) else ""


class Place(Subject):
    """A subject with one page, such as a list."""

    def url(self, reader: User, *_key: Any) -> str:
        return super().url(reader)


_SUBJECTS: dict[str, list[Subject]] = defaultdict(list)


def register(*subjects: Subject) -> None:
    """Register them; one name may have several, which are tried in turn."""
    for subject in subjects:
        _SUBJECTS[subject.name].append(subject)


def all_subjects() -> dict[str, list[Subject]]:
    """The subjects of events, by name."""
    discover_events()
    return _SUBJECTS


class Subjects:
    """The subjects of a page of events, and the ones that its reader may open."""

    def __init__(self, events: Iterable[AuditEvent], reader: User) -> None:
        """Read the rows that the events name."""
        keys: dict[Subject, set[str]] = defaultdict(set)
        for event in events:
            for subject, key in _named_by(event):
                keys[subject].add(key)
        self._reader = reader
        self._rows: dict[Subject, Rows] = {
            subject: {subject.key_of(row): row for row in subject.rows(wanted)} for subject, wanted in keys.items()
        }

    def about(self, event: AuditEvent) -> About:
        return self._about([*_by_type(event), *_as_said(event.subject)], event) or About(event.subject, is_code=True)

    def words(self, subject: str, event: AuditEvent) -> str:
        """The subject of a fact that an event keeps as "approval:7"."""
        about = self._about(_as_said(subject), event)
        return about.words if about else subject

    def number_words(self, fact: str, value: Any) -> str | None:
        """The name for a fact that is the number of a person or a thing; None for any other fact."""
        return next(
            (subject.number_words(key, self._rows.get(subject, {})) for subject, key in _numbered(fact, value)), None
        )

    def numbers(self, event: AuditEvent) -> list[str]:
        """The customers' numbers in an event of which no page shows the full number any more."""
        return [
            number for subject, key in _named_by(event) for number in subject.numbers(key, self._rows.get(subject, {}))
        ]

    def _about(self, named: Iterable[tuple[Subject, str]], event: AuditEvent) -> About | None:
        for subject, key in named:
            if about := subject.about(key, Seen(self._reader, self._rows.get(subject, {}), event.facts or {})):
                return about
        return None


def _named_by(event: AuditEvent) -> Iterator[tuple[Subject, str]]:
    """The subjects that the event names, each with its key."""
    facts = event.facts or {}
    yield from _by_type(event)
    yield from _as_said(event.subject)
    yield from _as_said(str(facts.get("subject", "")))
    for fact, value in facts.items():
        yield from _numbered(fact, value)


def _by_type(event: AuditEvent) -> Iterator[tuple[Subject, str]]:
    kind = all_events().get(event.kind)
    return _taking(kind.about if kind else "", event.subject)


def _as_said(text: str) -> Iterator[tuple[Subject, str]]:
    match = _SAID.fullmatch(text)
    return _taking(match[1], match[2]) if match else iter(())


def _numbered(fact: str, value: Any) -> Iterator[tuple[Subject, str]]:
    named = all_facts().get(fact)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return _taking(named.of, str(value)) if named and is_number else iter(())


def _taking(name: str, key: str) -> Iterator[tuple[Subject, str]]:
    return ((subject, key) for subject in all_subjects().get(name, ()) if subject.keys.fullmatch(key))
