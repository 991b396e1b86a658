"""The shop's people by name or user name."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Case, When

from branches.seeing import narrowed
from core import clock
from find.kinds.asked import Asked
from find.kinds.kind import Result
from staff.models import User
from staff.presenting import standing_of
from staff.roles import role_of


def people(asked: Asked) -> Iterator[Result]:
    """The people whom it names, first those of exactly this name, then those who work here before those who left."""
    if not asked.may_name_in_part:
        return
    seen, now = narrowed(User.objects.matching(asked.text)), clock.now()
    called = Case(When(first_name__iexact=asked.text, then=0), When(username__iexact=asked.text, then=0), default=1)
    rows = seen.order_by(called, "-is_active", "first_name", "username", "pk").for_table(now)
    for person in rows[: asked.most]:
        role = role_of(person)
        standing = standing_of(person, link_until=person.link_until, now=now)
        user_name = person.username if person.username != person.shown_name else ""
        yield Result(
            url=person.get_absolute_url(),
            words=person.shown_name,
            more=" · ".join(filter(None, [user_name, str(role.label) if role else "", str(standing.label)])),
            icon="user",
        )
