"""Changes a person's own limits; higher limits take a second person."""

from dataclasses import asdict

import structlog
from django.db import transaction

from audit.services import record
from core.rights import Right, Role
from staff.errors import NotAllowed
from staff.events import LIMIT_CHANGED
from staff.models import LIMITS, User
from staff.services.guards import lock_for_change
from staff.services.limits import Limits, limits_of, limits_of_roles, own_limits_of
from staff.services.second import NOBODY, Change, limit_change, settle

log = structlog.get_logger()


def change_limits(
    person: User,
    own: Limits,
    *,
    actor: User | None,
    approved_by: User | None = None,
) -> None:
    """Give the person these own limits; None: those of the role. They count from the next request on.

    Only owners let others spend more than themselves. Raises `NotAllowed`; or `NeedsSecond` when the person could spend
    more, and a colleague could approve this but has not.
    """
    with transaction.atomic():
        change, is_more = lock_limit_change(person, own, actor=actor)
        facts = settle(change, actor=actor, approved_by=approved_by) if is_more else NOBODY
        _put(person, own).save(update_fields=[f"own_{name}" for name in LIMITS])
        before, after = change.content["before"], change.content["after"]
        if before != after:
            what = {"before": before, "after": after, "facts": facts}
            record(LIMIT_CHANGED, actor=actor, subject=person.username, **what)
    log.info("staff_limits_changed", by=actor.pk if actor else "command", person=person.pk)


def lock_limit_change(person: User, own: Limits, *, actor: User | None) -> tuple[Change, bool]:
    """The change by these limits, with all its people locked, and whether they let more through.

    Raises `NotAllowed` if the actor may not make it.
    """
    locked = lock_for_change(person, actor=actor)
    before, own_before = limits_of(locked), own_limits_of(locked)
    after = limits_of(_put(locked, own))
    if actor is not None:
        _refuse_beyond(actor, after)
    return limit_change(locked, asdict(own_before), asdict(own), asdict(after)), not after.is_within(before)


def refuse_first_limits(role: Role, own: Limits, *, actor: User) -> None:
    """Raise `NotAllowed` if the actor may not invite a person of this role with these limits."""
    of_role = limits_of_roles()[role]
    after = limits_of(_put(User(), own), role=of_role)
    _refuse_beyond(actor, after)
    if not after.is_within(of_role):
        raise NotAllowed("limits_later")


def _put(person: User, own: Limits) -> User:
    for name, value in asdict(own).items():
        setattr(person, f"own_{name}", value)
    return person


def _refuse_beyond(actor: User, limits: Limits) -> None:
    """Raise `NotAllowed` unless the actor, as stored now, may change limits and spends at least as much."""
    stored = User.objects.get(pk=actor.pk)
    if not stored.has_perm(Right.CHANGE_LIMITS):
        raise NotAllowed("no_limits")
    if not stored.is_superuser and not limits.is_within(limits_of(stored)):
        raise NotAllowed("limit_above_own")
