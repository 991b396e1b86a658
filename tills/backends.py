"""People who are signed in by PIN. Only this file decides the rights of a PIN."""

import datetime as dt
import json
from typing import Any

from core.rights import OF_THE_SHOP, PIN_RIGHTS, Right
from policies.services import policies
from staff.backends import PERSON, StaffBackend
from staff.models import User
from staff.services import limits_of
from tills.models import HeldTill, PinPerson

_WITH_TILLS = f"""
    SELECT found.*, (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
            'pk', till.id, 'name', till.name, 'digest', till.digest, 'limit', till.pin_limit,
            'branch', till.branch_id,
            'active_at', extract(epoch FROM till.active_at)
        )), '[]') FROM tills_till till WHERE till.held_by_id = found.id AND till.switched_off_at IS NULL
    ) AS held_tills FROM ({PERSON}) found
"""  # noqa: S608 - our own text


class PinBackend(StaffBackend):
    """The person of a session that began with a PIN. It is read by one query, with its tills.

    A password never uses this backend: only sessions that `sign_in_by_pin` began name it.
    """

    def authenticate(self, request: Any, **credentials: Any) -> None:
        """Always None: a PIN counts only together with its till."""

    def get_user(self, user_id: int) -> User | None:
        """The person with a cashier's rights at most, for every role, and with the till's limit for an order."""
        person: PinPerson | None = next(iter(PinPerson.objects.raw(_WITH_TILLS, [user_id])), None)
        if person is None or not self.user_can_authenticate(person):
            return None
        person.tills = [_held(facts) for facts in json.loads(person.held_tills)]
        by_password = set(Right) if person.was_owner else set(person.held)
        person.held = sorted(PIN_RIGHTS & by_password)
        person.beyond_pin = by_password - PIN_RIGHTS - (OF_THE_SHOP if person.bound_to else set())
        lowest = min((till.limit for till in person.tills), default=0)
        own = limits_of(person).per_order
        person.own_per_order = lowest if own is None else min(own, lowest)
        return person


def _held(facts: dict[str, Any]) -> HeldTill:
    limit = facts["limit"]
    return HeldTill(
        pk=facts["pk"],
        name=facts["name"],
        digest=facts["digest"],
        branch=facts["branch"],
        active_at=dt.datetime.fromtimestamp(float(facts["active_at"] or 0), dt.UTC),
        limit=policies().pin_order_limit if limit is None else limit,
    )
