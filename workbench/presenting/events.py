"""Audit events as the list and its files show them."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from audit.facts import change_words, name_words, value_words
from audit.models import AuditEvent
from audit.subjects import Subjects
from core.numbers import json_as_seen, masked_json

_NOTHING: tuple[Any, ...] = ("", None, {}, [])
# Evidence for programs: the files have it, and it means nothing to a reader of the list.
_FOR_FILES = {"sha256"}
_LONGEST_FILTER = 160
# The name of a list and the query of its filters → their words.
Filters: TypeAlias = Callable[[str, str], str]


def as_text(value: Any) -> str:
    """JSON for a cell of a file; "" for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def masked(event: AuditEvent) -> dict[str, Any]:
    """The event's before, after and facts, with customers' numbers masked."""
    facts: dict[str, Any] = masked_json({"before": event.before, "after": event.after, "facts": event.facts})
    return facts


def details_of(event: AuditEvent, subjects: Subjects, filters: Filters) -> SafeString:
    """The changes and the facts, a line each, six at most. `filters`: gives the words for a list's filters."""
    lines = [(_words(part),) for part in _parts(event, subjects, filters)]
    return format_html_join("", "<div>{}</div>", lines[:6])


def _parts(event: AuditEvent, subjects: Subjects, filters: Filters) -> list[tuple[str, str]]:
    kept = {"before": event.before, "after": event.after, "facts": event.facts}
    seen = json_as_seen(kept, *subjects.numbers(event))
    before, after, facts = (seen[name] or {} for name in kept)
    was, now = event.before or {}, event.after or {}
    changed = [
        (name, change_words(name, before.get(name), after.get(name)))
        for name in dict.fromkeys([*before, *after])
        if was.get(name) != now.get(name) and not (was.get(name) in _NOTHING and now.get(name) in _NOTHING)
    ]
    shown = {name: value for name, value in facts.items() if value not in _NOTHING and name not in _FOR_FILES}
    return changed + [(name, _said(name, value, event, subjects, filters)) for name, value in shown.items()]


def _said(name: str, value: Any, event: AuditEvent, subjects: Subjects, filters: Filters) -> str:
    if name == "query" and isinstance(value, str):
        return Truncator(filters(event.subject, value)).chars(_LONGEST_FILTER)
    if name == "subject" and isinstance(value, str):
        return subjects.words(value, event)
    return subjects.number_words(name, value) or value_words(name, value, event.kind)


def _words(part: tuple[str, str]) -> str:
    return f"{name_words(part[0])}: {part[1]}"
