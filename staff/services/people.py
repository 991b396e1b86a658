"""Roles, accounts that are switched off and on, and the sessions of a person."""

from __future__ import annotations

import structlog
from django.db import transaction
from django.utils import timezone

from staff.errors import NotAllowed
from staff.models import Session, User
from staff.roles import Role, give_role
from staff.services.guards import lock_for_change, refuse_demo, refuse_last_owner, refuse_role_above
from staff.services.links import withdraw_open_links

log = structlog.get_logger()


def change_role(person: User, role: Role, *, actor: User | None) -> None:
    """Give the person this role alone; it holds from the next request on. Raises `NotAllowed`."""
    with transaction.atomic():
        found = lock_for_change(person, actor=actor)
        refuse_role_above(role, actor=actor)
        if role is not Role.OWNER:
            refuse_last_owner(found)
        give_role(found, role)
    log.info("staff_role_changed", by=_key(actor), person=found.pk, role=role.value)


def deactivate(person: User, *, actor: User | None) -> None:
    """Switch the account off: the person is out at the next request everywhere, and no link opens it.

    Raises `NotAllowed`.
    """
    with transaction.atomic():
        found = lock_for_change(person, actor=actor)
        refuse_last_owner(found)
        found.is_active = False
        found.save(update_fields=["is_active"])
        withdraw_open_links(found)
        ended = _delete_sessions(found)
    log.info("staff_deactivated", by=_key(actor), person=found.pk, sessions=ended)


def reactivate(person: User, *, actor: User | None) -> None:
    """Switch the account on again, with the password and role that it had. Raises `NotAllowed`."""
    with transaction.atomic():
        found = lock_for_change(person, actor=actor)
        refuse_demo(found)
        if not found.has_joined:
            raise NotAllowed("not_joined")
        found.is_active = True
        found.save(update_fields=["is_active"])
        _delete_sessions(found)  # of a sign-in that was on its way when the account was switched off
    log.info("staff_reactivated", by=_key(actor), person=found.pk)


def open_sessions(person: User) -> list[Session]:
    """The person's sessions that have not expired, the latest to expire first."""
    return list(person.sessions.filter(expire_date__gt=timezone.now()).order_by("-expire_date")[:50])


def end_sessions(person: User, *, actor: User, but: str | None = None) -> int:
    """Sign the person out everywhere, but in the session with this key; returns how many sessions were ended.

    Everybody may do so for the own account. Raises `NotAllowed`.
    """
    with transaction.atomic():
        if actor != person:
            lock_for_change(person, actor=actor)
        ended = _delete_sessions(person, but=but)
    log.info("staff_sessions_ended", by=_key(actor), person=person.pk, sessions=ended)
    return ended


def _delete_sessions(person: User, *, but: str | None = None) -> int:
    return Session.objects.filter(person=person).exclude(session_key=but or "").delete()[0]


def _key(actor: User | None) -> int | str:
    return actor.pk if actor else "command"
