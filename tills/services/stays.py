"""Who is at a till by PIN, and who was: from the audit's events."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from audit.models import AuditEvent
from core import clock
from staff.events import SIGN_OUT
from staff.models import User
from tills.events import PIN_SIGN_IN
from tills.models import Till
from tills.services.sessions import is_idle

_LOOKED_BACK = dt.timedelta(days=30)
_MOST = 20


@dataclass(frozen=True, kw_only=True)
class Stay:
    """One person at one till by PIN. `until`: None while the person is there."""

    pk: int
    person: User
    since: dt.datetime
    until: dt.datetime | None


def person_there(till: Till) -> User | None:
    """Who is at this till by PIN now; the till comes with `held_by__pin`.

    Nobody was signed out yet who is idle, or whose PIN has ended: that happens with the next request.
    """
    person = till.held_by
    if person is None or not person.is_active or is_idle(till):
        return None
    pin = getattr(person, "pin", None)
    return person if pin and pin.epoch == person.device_epoch else None


def stays_at(till: Till) -> list[Stay]:
    """Who worked at this till by PIN in the last 30 days, the latest first, 20 at most."""
    events = AuditEvent.objects.filter(at__gt=clock.now() - _LOOKED_BACK, facts__till=till.pk)
    began = events.filter(kind=PIN_SIGN_IN.key).select_related("person").order_by("-at", "-pk")[:_MOST]
    began_first = list(began)[::-1]
    if not began_first:
        return []
    ends = list(events.filter(kind=SIGN_OUT.key, at__gte=began_first[0].at).order_by("at", "pk"))
    stays = []
    for event, following in zip(began_first, [*began_first[1:], None], strict=True):
        assert event.person is not None  # noqa: S101 - a PIN is somebody's
        left = next((end.at for end in ends if end.at >= event.at and end.person_id == event.person_id), None)
        moments = [moment for moment in (left, following and following.at) if moment]
        if not moments and till.active_at and person_there(till) is None:
            moments = [till.active_at]  # left without a word: the last act there
        stays.append(Stay(pk=event.pk, person=event.person, since=event.at, until=min(moments, default=None)))
    return stays[::-1]
