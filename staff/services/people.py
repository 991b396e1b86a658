"""Changes a person's role, branch and sessions, and switches accounts off and on."""

import structlog
from django.db import transaction
from django.utils import timezone

from audit.services import record
from branches.services import keep_open
from core import clock
from core.rights import Right, Role
from staff.errors import NotAllowed
from staff.events import ROLE_CHANGED, SESSIONS_ENDED, STAFF_BOUND, STAFF_MOVED, STAFF_SWITCHED_OFF, STAFF_SWITCHED_ON
from staff.models import Session, User
from staff.roles import give_role
from staff.services.devices import forget_devices
from staff.services.guards import lock_for_change, refuse_demo, refuse_last_owner, refuse_outside, refuse_role_above
from staff.services.links import withdraw_open_links, withdraw_unbacked_links
from staff.services.second import NOBODY, Change, role_change, settle, switching_on, takes_two

log = structlog.get_logger()


def change_role(
    person: User,
    role: Role,
    *,
    actor: User | None,
    approved_by: User | None = None,
) -> bool:
    """Give the person only this role; it counts from the next request on. False for the role that the person has.

    Raises `NotAllowed`; or `NeedsSecond` when the role lets the person do more, and a colleague could approve it but
    has not.
    """
    with transaction.atomic():
        change = lock_role_change(person, role, actor=actor)
        if change.content["before"] == role.value:
            return False
        facts = settle(change, actor=actor, approved_by=approved_by) if change.content["gains"] else NOBODY
        current = User.objects.get(pk=person.pk)
        give_role(current, role)
        withdraw_unbacked_links()
        before, after = ({"role": change.content[name]} for name in ("before", "after"))
        record(
            ROLE_CHANGED,
            actor=actor,
            subject=current.username,
            before=before,
            after=after,
            facts=facts,
        )
    log.info("staff_role_changed", by=_key(actor), person=current.pk, role=role.value)
    return True


def lock_role_change(person: User, role: Role, *, actor: User | None) -> Change:
    """The change of giving the role, with all its people locked. Raises `NotAllowed` if it may not be made."""
    locked = lock_for_change(person, actor=actor)
    refuse_outside(locked)
    refuse_role_above(role, actor=actor)
    if role is not Role.OWNER:
        refuse_last_owner(locked)
    return role_change(locked, role)


def move(person: User, *, branch: int, actor: User) -> None:
    """Move the person to the branch with this key; a bound person sees only that branch.

    Raises `NotAllowed`, also while the person has an open shift at a drawer of another branch; and
    `BranchRefused` for a closed branch.
    """
    with transaction.atomic():
        locked = lock_move(person, branch=branch, actor=actor)
        before, locked.branch_id = locked.branch_id, branch
        if before == branch:
            return
        if locked.bound_since is not None:
            locked.bound_since = clock.now()  # files that were made before hold the other branch's rows
        locked.save(update_fields=["branch", "bound_since"])
        withdraw_unbacked_links()
        after = {"branch": branch}
        record(STAFF_MOVED, actor=actor, subject=locked.username, before={"branch": before}, after=after)
    log.info("staff_moved", by=_key(actor), person=locked.pk, branch=branch)


def lock_move(person: User, *, branch: int, actor: User) -> User:
    """The person, locked with all people of the move, still in the old branch. Raises the same as `move`."""
    locked = lock_for_change(person, actor=actor)
    if locked.branch_id != branch:
        keep_open(branch)
        if locked.bound_since is not None and not actor.has_perm(Right.CHANGE_ROLES):
            raise NotAllowed("owner_binds")
        _refuse_open_elsewhere(locked, branch)
    return locked


def deactivate(person: User, *, actor: User | None) -> None:
    """Switch the account off: the person is signed out everywhere, and no link opens the account.

    Raises `NotAllowed`.
    """
    with transaction.atomic():
        locked = lock_switching_off(person, actor=actor)
        before = {"is_active": locked.is_active}
        locked.is_active = False
        locked.save(update_fields=["is_active"])
        before["open_link"] = withdraw_open_links(locked) > 0
        withdraw_unbacked_links()
        forget_devices(locked)
        ended = _delete_sessions(locked)
        record(
            STAFF_SWITCHED_OFF,
            actor=actor,
            subject=locked.username,
            before=before,
            after={"is_active": False, "open_link": False},
            facts={"sessions": ended},
        )
    log.info("staff_deactivated", by=_key(actor), person=locked.pk, sessions=ended)


def lock_switching_off(person: User, *, actor: User | None) -> User:
    """The person, locked with all people of the change. Raises `NotAllowed` if the account may not be switched off."""
    locked = lock_for_change(person, actor=actor)
    refuse_last_owner(locked)
    return locked


def reactivate(person: User, *, actor: User | None, approved_by: User | None = None) -> None:
    """Switch the account on again, with the password and role that it had.

    Raises `NotAllowed`; `BranchRefused` if its branch was closed; or `NeedsSecond` when its role takes a second person
    and a colleague could approve it.
    """
    with transaction.atomic():
        change, current = lock_reactivation(person, actor=actor, is_approved=approved_by is not None)
        facts = NOBODY
        if takes_two(change.content["rights"]):
            facts = settle(change, actor=actor, approved_by=approved_by)
        before = {"is_active": current.is_active}
        current.is_active = True
        current.save(update_fields=["is_active"])
        _delete_sessions(current)  # a sign-in under way may have begun a session after the account was switched off
        record(
            STAFF_SWITCHED_ON,
            actor=actor,
            subject=current.username,
            before=before,
            after={"is_active": True},
            facts=facts,
        )
    log.info("staff_reactivated", by=_key(actor), person=current.pk)


def lock_reactivation(person: User, *, actor: User | None, is_approved: bool = False) -> tuple[Change, User]:
    """The change of `lock_switching_on`, and the person as stored now.

    Raises `NotAllowed`, also for a person who has not joined unless a second person has approved it; and
    `BranchRefused` for a closed branch.
    """
    change = lock_switching_on(person, actor=actor)
    current = User.objects.get(pk=person.pk)
    if not (current.has_joined or is_approved):
        raise NotAllowed("not_joined")
    keep_open(current.branch_id)
    return change, current


def lock_switching_on(person: User, *, actor: User | None) -> Change:
    """The change of switching the account on, with all its people locked. Raises `NotAllowed`."""
    locked = lock_for_change(person, actor=actor)
    refuse_demo(locked)
    return switching_on(locked)


def open_sessions(person: User) -> list[Session]:
    """The person's sessions that have not expired, the latest to expire first."""
    return list(person.sessions.filter(expire_date__gt=timezone.now()).order_by("-expire_date")[:50])


def end_sessions(person: User, *, actor: User, but: str | None = None) -> int:
    """Sign the person out everywhere except in the session with the key `but`; returns how many sessions ended.

    Everybody may do this for the own account. Raises `NotAllowed`.
    """
    with transaction.atomic():
        if actor != person:
            lock_for_change(person, actor=actor)
            forget_devices(person)
        ended = _delete_sessions(person, but=but)
        kept = int(but is not None)
        facts = {"before": {"sessions": ended + kept}, "after": {"sessions": kept}}
        record(SESSIONS_ENDED, actor=actor, subject=person.username, **facts)
    log.info("staff_sessions_ended", by=_key(actor), person=person.pk, sessions=ended)
    return ended


def _delete_sessions(person: User, *, but: str | None = None) -> int:
    return Session.objects.filter(person=person).exclude(session_key=but or "").delete()[0]


def _key(actor: User | None) -> int | str:
    return actor.pk if actor else "command"


def bind(person: User, *, is_bound: bool, actor: User) -> None:
    """Limit the person to the own branch, or show all branches again, from the next page on.

    Raises `NotAllowed` unless the actor may change roles, when the person is an owner, and, to bind, while the person
    has a shift open at a drawer of another branch.
    """
    with transaction.atomic():
        locked = lock_binding(person, is_bound=is_bound, actor=actor)
        before = locked.bound_since is not None
        if before == is_bound:
            return
        locked.bound_since = clock.now() if is_bound else None
        locked.save(update_fields=["bound_since"])
        withdraw_unbacked_links()
        record(
            STAFF_BOUND,
            actor=actor,
            subject=locked.username,
            before={"is_bound": before},
            after={"is_bound": is_bound},
            facts={"branch": locked.branch_id},
        )
    log.info("staff_bound", by=actor.pk, person=locked.pk, branch=locked.branch_id, is_bound=is_bound)


def lock_binding(person: User, *, is_bound: bool, actor: User) -> User:
    """The person, locked with all people of the change, not yet bound. Raises the same as `bind`."""
    locked = lock_for_change(person, actor=actor)
    if not actor.has_perm(Right.CHANGE_ROLES):
        raise NotAllowed("owner_binds")
    if locked.is_superuser:
        raise NotAllowed("owner_sees_all")
    if is_bound and locked.bound_since is None:
        _refuse_open_elsewhere(locked, locked.branch_id)
    return locked


def _refuse_open_elsewhere(person: User, branch: int) -> None:
    """Raise `NotAllowed` while the locked person has a shift open at a drawer that is not of this branch."""
    if person.shifts.filter(closed_at=None).exclude(drawer__branch=branch).exists():
        raise NotAllowed("shift_open")
