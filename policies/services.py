"""Reads and changes the policies. A value in the environment wins over the page, which shows it."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Mapping
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import transaction

from audit.events import SETTING_CHANGED
from audit.services import record
from policies.bounds import BOUNDS, SWITCHES
from policies.errors import LooserNeedsTwo
from policies.models import Policies

if TYPE_CHECKING:
    from staff.models import User

# A process reads the row once in this many seconds: each page needs it.
_KEPT_SECONDS = 5.0
# Only policies that can become looser; these always have a value.
_LOOSER = {name: bounds.looser for name, bounds in BOUNDS.items() if bounds.looser} | SWITCHES

log = structlog.get_logger()


def policies() -> Policies:
    """The present policies; a change reaches every process within five seconds."""
    held = copy(_row(int(time.monotonic() / _KEPT_SECONDS)))
    for name, value in settings.POLICIES.items():
        setattr(held, name, value)
    return held


@lru_cache(maxsize=1)
def _row(_moment: int) -> Policies:
    return saved_policies()


def is_between(begin: dt.time | None, end: dt.time | None, at: dt.time) -> bool:
    """Whether the shop's time `at` is in these hours, which may pass midnight. False without hours."""
    if begin is None or end is None:
        return False
    return begin <= at < end if begin <= end else at >= begin or at < end


def forget() -> None:
    """Read the row again at the next use."""
    _row.cache_clear()


def saved_policies() -> Policies:
    """The row as people saved it, without the values of the environment."""
    return Policies.objects.filter(only=True).first() or Policies()


def change_policies(wanted: Mapping[str, Any], *, actor: User, approved_by: User | None = None) -> bool:
    """Give the policies these values, by column, times also as "22:00"; returns whether anything changed.

    Raises `LooserNeedsTwo` when a check would be looser and no second person has approved it.
    """
    with transaction.atomic():
        held = lock_policies()
        before, after = _give(held, wanted)
        if approved_by is None and _is_looser(before, after):
            raise LooserNeedsTwo({"before": before, "after": after})
        if after:
            held.save(update_fields=list(after))
            facts = {"approved_by": approved_by.pk} if approved_by else {}
            record(SETTING_CHANGED, actor=actor, subject="policies", before=before, after=after, facts=facts)
            transaction.on_commit(forget)
    log.info("policies_changed", by=actor.pk, names=sorted(after))
    return bool(after)


def would_be_looser(wanted: Mapping[str, Any]) -> bool:
    """Whether these values would make a check looser now: then a second person has to approve them. Nothing changes."""
    return _is_looser(*_give(saved_policies(), wanted))


def _give(held: Policies, wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give `held` these values, not yet stored; returns those that change, before and after, for JSON."""
    changed = {}
    for name, value in wanted.items():
        typed = Policies._meta.get_field(name).to_python(value)  # type: ignore[union-attr] # a column
        if getattr(held, name) != typed:
            changed[name] = typed
    before = values_of(held, changed)
    for name, value in changed.items():
        setattr(held, name, value)
    return before, values_of(held, changed)


def lock_policies() -> Policies:
    """The row, locked until the transaction ends; it is made if it does not exist."""
    return Policies.objects.select_for_update().get_or_create(only=True)[0]


def values_of(held: Policies, names: Iterable[str]) -> dict[str, Any]:
    """The values of these policies for JSON: numbers, and times as "22:00"."""
    values = {name: getattr(held, name) for name in names}
    return {name: f"{value:%H:%M}" if isinstance(value, dt.time) else value for name, value in values.items()}


def _is_looser(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return any((after[name] - before[name]) * _LOOSER[name] > 0 for name in before if name in _LOOSER)
