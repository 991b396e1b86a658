"""Finds out whether two accounts are two people: a recent holder of an account cannot be its second person."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable

from django.db import connection

from core import clock
from staff.events import FACTOR_REMOVED, LIMIT_CHANGED, ROLE_CHANGED, STAFF_SWITCHED_ON
from staff.models import AccessLink, User

HELD_DAYS = 30

# The actor of these events could sign in as the person afterwards.
_TAKEN = (AccessLink.Purpose.RESET.value, FACTOR_REMOVED.key)
_INVITED = AccessLink.Purpose.INVITE.value
_CHANGED = (ROLE_CHANGED.key, LIMIT_CHANGED.key, STAFF_SWITCHED_ON.key)

_STEPS = """
    SELECT made_by_id, person_id, purpose FROM staff_accesslink WHERE used_at >= %(since)s AND made_by_id IS NOT NULL
    UNION ALL
    SELECT event.person_id, held.id, event.kind
    FROM audit_auditevent event JOIN staff_user held ON held.username = event.subject
    WHERE event.kind = ANY(%(kinds)s) AND event.at >= %(since)s AND event.person_id <> held.id
"""


class Hands:
    """The holders of other people's accounts in the last 30 days, also through accounts in between; one query.

    A holder made an access link that the account used, or removed its factors. People who changed its role or limits,
    or switched it on, count, too.
    """

    def __init__(self, steps: Iterable[tuple[int, int, str]]) -> None:
        """`steps`: (the holder, the person of the account, the kind of step)."""
        self._held: dict[int, set[tuple[int, bool]]] = defaultdict(set)
        self._changed: dict[int, set[int]] = defaultdict(set)
        for who, whose, how in steps:
            if how in _CHANGED:
                self._changed[whose].add(who)
            else:
                self._held[whose].add((who, how != _INVITED))

    @classmethod
    def read(cls) -> Hands:
        """Read the last 30 days from the database."""
        since = clock.now() - dt.timedelta(days=HELD_DAYS)
        with connection.cursor() as cursor:
            cursor.execute(_STEPS, {"since": since, "kinds": [*_CHANGED, *_TAKEN]})
            return cls(cursor.fetchall())

    def between(self, person: User, other: User) -> set[int]:
        """The keys of people through whom the two accounts may be one person; empty for two people.

        One of the two held the other's account, or a third person could sign in as both. Having invited both does not
        count: a strong account took two people at that time, and the person who opens a shop invites everybody.
        """
        first, second = self._behind(person.pk), self._behind(other.pk)
        taken = {key for key in first.keys() & second.keys() if first[key] or second[key]}
        direct = {other.pk} & first.keys() | {person.pk} & second.keys()
        return taken | direct | self._changed_by(person.pk, of=other.pk) | self._changed_by(other.pk, of=person.pk)

    def _changed_by(self, who: int, *, of: int) -> set[int]:
        return {who for by in self._changed[of] if who in self._behind(by)}

    def _behind(self, key: int) -> dict[int, bool]:
        """The people who could have signed in as this person, who is included; True if an account was taken on the
        way."""
        behind = {key: False}
        waiting = [(key, False)]
        while waiting:
            held, taken = waiting.pop()
            for who, takes in self._held[held]:
                is_taken = taken or takes
                if who not in behind or (is_taken and not behind[who]):
                    behind[who] = is_taken
                    waiting.append((who, is_taken))
        return behind
