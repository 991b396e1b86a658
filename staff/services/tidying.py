"""Deletes expired rows, a few at a time."""

from django.db.models import Model

from core import clock
from staff.models import Session, SpentChallenge
from staff.services.throttle import clear_expired

_AT_ONCE = 1000


def clear_ended() -> int:
    """Delete sessions, counters and used challenges that have expired; returns how many rows."""
    now = clock.now()
    cleared = sum(
        _delete(model, field, now) for model, field in ((Session, "expire_date"), (SpentChallenge, "expires_at"))
    )
    while some := clear_expired(now, at_most=_AT_ONCE):
        cleared += some
    return cleared


def _delete(model: type[Model], field: str, now: object) -> int:
    total = 0
    while keys := list(model._default_manager.filter(**{f"{field}__lte": now}).values_list("pk", flat=True)[:_AT_ONCE]):
        total += model._default_manager.filter(pk__in=keys).delete()[0]
    return total
