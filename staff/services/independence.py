"""Whether two people are two: who held the other's account lately is no second person beside it."""

from __future__ import annotations

import datetime as dt

from django.db.models import Q

from audit.kinds import Kind
from audit.models import AuditEvent
from core import clock
from staff.models import AccessLink, User

HELD_DAYS = 30

_KINDS = (Kind.ROLE_CHANGED, Kind.LIMIT_CHANGED, Kind.STAFF_SWITCHED_ON, Kind.FACTOR_REMOVED)


def holders_between(one: User, other: User) -> set[int]:
    """The keys of those of the two who held the other's account in the last 30 days; one query.

    They made an access link that the account used, or changed its role, limits or factors, or switched it on.
    """
    since = clock.now() - dt.timedelta(days=HELD_DAYS)
    used = AccessLink.objects.filter(
        Q(person=one, made_by=other) | Q(person=other, made_by=one), used_at__gte=since
    ).values_list("made_by")
    changed = AuditEvent.objects.filter(
        Q(person=one, subject=other.username) | Q(person=other, subject=one.username),
        kind__in=_KINDS,
        at__gte=since,
    ).values_list("person")
    return {key for (key,) in used.order_by().union(changed.order_by())}
