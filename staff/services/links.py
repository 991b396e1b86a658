"""Single-use links: an invitation, or a new password. The token is shown once; only its digest is kept."""

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import structlog
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from audit.services import record
from branches.services import first_open, has_several, keep_open
from core import clock
from core.rights import Role
from staff.errors import LinkRefused, NameTaken, NotAllowed
from staff.events import LINK_MADE, LINK_USED, LINK_WITHDRAWN, STAFF_INVITED
from staff.models import BREAK_GLASS, AccessLink, Session, User
from staff.roles import give_role
from staff.services.devices import forget_devices
from staff.services.guards import (
    lock_actor,
    lock_for_change,
    may_manage,
    refuse_demo,
    refuse_outside,
    refuse_role_above,
    sees_more,
)
from staff.services.limit_changes import change_limits, lock_limit_change, refuse_first_limits
from staff.services.limits import Limits
from staff.services.second import NOBODY, Change, invitation, settle, switching_on, takes_two

VALID_HOURS = 72
_TOKEN_BYTES = 32

log = structlog.get_logger()


def invite(
    *,
    username: str,
    role: Role,
    actor: User | None,
    full_name: str = "",
    email: str = "",
    note: str = "",
    branch: int | None = None,
    limits: Limits | None = None,
    keep: Callable[[User], None] | None = None,
) -> tuple[User, str]:
    """A new person with this role and without a password, and the token of the invitation.

    `actor`: None for a command. `branch`: the key of the new person's branch; None: the actor's. `limits`: own ones
    below the role's. `keep`: stores other facts of the person, in the same transaction. Both are only for a role that
    takes no second person. Raises `NotAllowed`, or `NameTaken`; or `NeedsSecond` when the role takes a second person
    and a colleague could approve it.
    """
    facts: dict[str, Any] = {"full_name": full_name, "email": email, "note": note}
    facts["branch"] = branch or (actor.branch_id if actor else first_open())
    with transaction.atomic():
        change = lock_invitation(username, role, facts, actor=actor)
        _refuse_more(change, has_more=bool(limits or keep))
        person = add_person(change, actor=actor)
        if limits:
            if lock_limit_change(person, limits, actor=actor)[1]:
                raise NotAllowed("limits_later")
            change_limits(person, limits, actor=actor)
        if keep:
            keep(person)
        token = _new_link(person, AccessLink.Purpose.INVITE, actor)
    log.info("staff_invited", by=_key(actor), person=person.pk, role=role.value)
    return person, token


def refuse_invitation(
    username: str, role: Role, *, branch: int | None, limits: Limits | None, has_more: bool, actor: User
) -> None:
    """Raise `NotAllowed`, `BranchRefused` or `NameTaken` if `invite` would refuse this at once; nothing changes.

    `has_more`: it brings limits or other facts.
    """
    with transaction.atomic():
        change = lock_invitation(username, role, {"branch": branch or actor.branch_id}, actor=actor)
        _refuse_more(change, has_more=has_more)
        if limits:
            refuse_first_limits(role, limits, actor=actor)


def _refuse_more(change: Change, *, has_more: bool) -> None:
    if has_more and takes_two(change.content["rights"]):
        raise NotAllowed("limits_later")  # the content of an approval holds no limits


def lock_invitation(username: str, role: Role, facts: Mapping[str, Any], *, actor: User | None) -> Change:
    """The invitation as a change, with the actor locked. Raises `NotAllowed`, `BranchRefused`, or `NameTaken`."""
    if actor is not None:
        lock_actor(actor)
    refuse_role_above(role, actor=actor)
    _refuse_taken(User.normalize_username(username))
    if actor is not None and actor.bound_to not in {None, facts.get("branch", actor.branch_id)}:
        raise NotAllowed("other_branch")
    if "branch" in facts:
        keep_open(facts["branch"])
    return invitation(username, role, facts)


def add_person(change: Change, *, actor: User | None, approved_by: User | None = None) -> User:
    """The person of a locked invitation, without a link yet. Raises `NeedsSecond`, or `NameTaken`.

    An inviter holds the link, so an inviter who is bound to a branch invites only people who see only that branch.
    """
    asked = change.content
    role, known = Role(asked["role"]), asked["facts"]
    facts = settle(change, actor=actor, approved_by=approved_by) if takes_two(asked["rights"]) else NOBODY
    branch = known.get("branch") or (actor.branch_id if actor else first_open())  # older approvals name none
    is_bound = actor is not None and actor.bound_to is not None
    person = _create(
        asked["username"],
        first_name=known["full_name"],
        email=known["email"],
        note=known["note"],
        branch_id=branch,
        bound_since=clock.now() if is_bound else None,
    )
    give_role(person, role)
    after: dict[str, object] = {"role": role.value} | ({"branch": branch} if has_several() else {})
    after |= {"is_bound": True} if is_bound else {}
    record(STAFF_INVITED, actor=actor, subject=person.username, after=after, facts=facts)
    return person


def make_link(person: User, *, actor: User | None) -> str:
    """The token of a new link; an open one of the person ends. Raises `NotAllowed`; `BranchRefused` in a closed branch.

    A person who never joined is invited again. For other people the link is for a new password, and they are signed out
    everywhere; the old password works until the link is used. Raises `NeedsSecond` in the same cases as `reactivate`.
    """
    with transaction.atomic():
        locked = lock_for_link(person, actor=actor)
        purpose = AccessLink.Purpose.RESET if locked.has_joined else AccessLink.Purpose.INVITE
        before, seconded = {"is_active": locked.is_active}, dict[str, object]()
        if not locked.is_active:
            change = switching_on(locked)
            if takes_two(change.content["rights"]):
                seconded |= settle(change, actor=actor, approved_by=None)
            locked.is_active = True
            locked.save(update_fields=["is_active"])
        ended = Session.objects.filter(person=locked).delete()[0]
        forget_devices(locked)
        before["open_link"] = withdraw_open_links(locked) > 0
        token = _new_link(locked, purpose, actor)
        after = {"is_active": True, "open_link": True, "purpose": purpose.value}
        record(
            LINK_MADE,
            actor=actor,
            subject=locked.username,
            before=before,
            after=after,
            facts={"sessions": ended} | seconded,
        )
    log.info("staff_link_made", by=_key(actor), person=locked.pk, purpose=purpose.value)
    return token


def lock_for_link(person: User, *, actor: User | None) -> User:
    """The person, locked with all people of the change. Raises `NotAllowed` or `BranchRefused` as `make_link`."""
    locked = lock_for_change(person, actor=actor)
    refuse_demo(locked)
    refuse_outside(locked)
    if actor is not None and sees_more(locked, actor):
        raise NotAllowed("sees_all")
    if locked.has_joined and not locked.is_active:
        raise NotAllowed("switched_off")
    if not locked.is_active:
        keep_open(locked.branch_id)
    return locked


def withdraw_link(person: User, *, actor: User | None) -> None:
    """End the person's open link; a person who never joined is also switched off.

    Raises `NotAllowed`, also when the link was used meanwhile.
    """
    with transaction.atomic():
        locked = lock_for_change(person, actor=actor)
        before = {"is_active": locked.is_active, "open_link": withdraw_open_links(locked) > 0}
        if locked.has_joined and not before["open_link"]:
            raise NotAllowed("no_link")
        if not locked.has_joined:
            locked.is_active = False
            locked.save(update_fields=["is_active"])
        after = {"is_active": locked.is_active, "open_link": False}
        facts = {"before": before, "after": after}
        record(LINK_WITHDRAWN, actor=actor, subject=locked.username, **facts)
    log.info("staff_link_withdrawn", by=_key(actor), person=locked.pk)


def withdraw_open_links(person: User) -> int:
    """End the open link of a person whose row is locked; returns how many there were."""
    ended: int = person.links.filter(used_at=None, withdrawn_at=None).update(withdrawn_at=clock.now())
    return ended


def withdraw_unbacked_links() -> None:
    """End every open link whose maker may no longer manage its person; call it after a change of roles or accounts.

    Such a link opens nothing anyway; afterwards no page shows it as open.
    """
    still_open = AccessLink.objects.filter(used_at=None, withdrawn_at=None, made_by__isnull=False)
    for link in still_open.select_related("made_by", "person"):
        if not _is_backed(link):
            still_open.filter(pk=link.pk).update(withdrawn_at=clock.now())


def link_path(token: str) -> str:
    """The link without the host. The token is in the query, which no log line has."""
    return f"{reverse('access_link')}?{urlencode({'link': token})}"


def read_link(token: str) -> AccessLink:
    """The open link of this token, with its person. Nothing is used up. Raises `LinkRefused`.

    A link also counts as withdrawn when its maker may no longer manage the person, or sees fewer branches.
    """
    link = AccessLink.objects.select_related("person", "made_by").filter(digest=_digest(token)).first()
    if link is None:
        raise LinkRefused("unknown")
    if link.used_at:
        raise LinkRefused("used")
    if link.withdrawn_at or not link.person.is_active or link.person.is_outside or not _is_backed(link):
        raise LinkRefused("withdrawn")
    if link.expires_at <= clock.now():
        raise LinkRefused("expired")
    return link


def _is_backed(link: AccessLink) -> bool:
    """Whether its maker, who could sign in with it, may still make it; a link without a maker was made by a command."""
    maker, person = link.made_by, link.person
    return maker is None or (may_manage(maker, person) and not sees_more(person, maker))


def accept_link(token: str, password: str) -> User:
    """Use the link up, once: its person has this password from now on and is signed out everywhere.

    Raises `LinkRefused`.
    """
    with transaction.atomic():
        # a change of the account locks the person first, too
        User.objects.select_for_update(no_key=True).get(pk=read_link(token).person_id)
        link = read_link(token)
        link.used_at = clock.now()
        link.save(update_fields=["used_at"])
        person = link.person
        before = {"has_password": person.has_joined}
        person.set_password(password)
        person.save(update_fields=["password"])
        forget_devices(person)
        ended = Session.objects.filter(person=person).delete()[0]
        record(
            LINK_USED,
            actor=person,
            subject=person.username,
            before=before,
            after={"has_password": True},
            facts={"purpose": link.purpose, "made_by": link.made_by_id, "sessions": ended},
        )
    log.info("staff_link_used", person=person.pk, purpose=link.purpose)
    person.refresh_from_db()
    return person


def create_person(username: str, **facts: Any) -> User:
    """A new person without a password. Raises `NameTaken`."""
    username = User.normalize_username(username)
    _refuse_taken(username)
    return _create(username, **facts)


def _create(username: str, **facts: Any) -> User:
    """The new person. Raises `NameTaken`: names that differ only in the case or width of letters are the same."""
    try:
        with transaction.atomic():
            person: User = User.objects.create_user(username, **facts)
    except IntegrityError:
        raise name_taken() from None
    return person


def _refuse_taken(username: str) -> None:
    if username.casefold() == BREAK_GLASS:
        raise NameTaken(_("This name is kept for the emergency account."))
    if User.objects.filter(username__iexact=username).exists():
        raise name_taken()


def name_taken() -> NameTaken:
    """The refusal of a taken user name."""
    return NameTaken(_("Somebody has this user name already."))


def _new_link(person: User, purpose: AccessLink.Purpose, actor: User | None) -> str:
    token, now = secrets.token_urlsafe(_TOKEN_BYTES), clock.now()
    AccessLink.objects.create(
        person=person,
        purpose=purpose,
        digest=_digest(token),
        made_by=actor,
        made_at=now,
        expires_at=now + dt.timedelta(hours=VALID_HOURS),
    )
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _key(actor: User | None) -> int | str:
    return actor.pk if actor else "command"
