"""Single-use links: an invitation, or a new password. The token is shown once; only its digest is kept."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from urllib.parse import urlencode

import structlog
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from core import clock
from staff.errors import LinkRefused, NameTaken, NotAllowed
from staff.models import AccessLink, Session, User
from staff.roles import Role, give_role
from staff.services.guards import lock_actor, lock_for_change, may_manage, refuse_demo, refuse_role_above

VALID_HOURS = 72
_TOKEN_BYTES = 32

log = structlog.get_logger()


def invite(
    *, username: str, role: Role, actor: User | None, full_name: str = "", email: str = "", note: str = ""
) -> tuple[User, str]:
    """A new person with this role and without a password, and the token of the invitation.

    `actor`: None for a command. Raises `NotAllowed`, or `NameTaken`.
    """
    with transaction.atomic():
        if actor is not None:
            lock_actor(actor)
        refuse_role_above(role, actor=actor)
        person = _create(username, first_name=full_name, email=email, note=note)
        give_role(person, role)
        token = _new_link(person, AccessLink.Purpose.INVITE, actor)
    log.info("staff_invited", by=_key(actor), person=person.pk, role=role.value)
    return person, token


def make_link(person: User, *, actor: User | None) -> str:
    """The token of a new link; an open one of the person ends. Raises `NotAllowed`.

    Who never joined is invited again. For others the link is for a new password, and they are signed out everywhere;
    the old password holds until the link is used.
    """
    with transaction.atomic():
        found = lock_for_change(person, actor=actor)
        refuse_demo(found)
        purpose = AccessLink.Purpose.RESET if found.has_joined else AccessLink.Purpose.INVITE
        if found.has_joined and not found.is_active:
            raise NotAllowed("switched_off")
        if not found.is_active:
            found.is_active = True
            found.save(update_fields=["is_active"])
        Session.objects.filter(person=found).delete()
        withdraw_open_links(found)
        token = _new_link(found, purpose, actor)
    log.info("staff_link_made", by=_key(actor), person=found.pk, purpose=purpose.value)
    return token


def withdraw_link(person: User, *, actor: User | None) -> None:
    """End the person's open link; who never joined is switched off with it. Raises `NotAllowed`."""
    with transaction.atomic():
        found = lock_for_change(person, actor=actor)
        withdraw_open_links(found)
        if not found.has_joined:
            found.is_active = False
            found.save(update_fields=["is_active"])
    log.info("staff_link_withdrawn", by=_key(actor), person=found.pk)


def withdraw_open_links(person: User) -> None:
    """End the open link of a person whose row is locked."""
    person.links.filter(used_at=None, withdrawn_at=None).update(withdrawn_at=clock.now())


def link_path(token: str) -> str:
    """The link without the host. The token stands in the query, which no log line holds."""
    return f"{reverse('access_link')}?{urlencode({'link': token})}"


def read_link(token: str) -> AccessLink:
    """The open link of this token, with its person. Nothing is used up. Raises `LinkRefused`.

    It is withdrawn, too, once whoever made it may no longer manage its person.
    """
    link = AccessLink.objects.select_related("person", "made_by").filter(digest=_digest(token)).first()
    if link is None:
        raise LinkRefused("unknown")
    if link.used_at:
        raise LinkRefused("used")
    is_backed = link.made_by is None or may_manage(link.made_by, link.person)
    if link.withdrawn_at or not link.person.is_active or not is_backed:
        raise LinkRefused("withdrawn")
    if link.expires_at <= clock.now():
        raise LinkRefused("expired")
    return link


def accept_link(token: str, password: str) -> User:
    """Use the link up, once: its person has this password from now on and is signed out everywhere.

    Raises `LinkRefused`.
    """
    with transaction.atomic():
        # who changes the account locks the person first, too
        User.objects.select_for_update(no_key=True).get(pk=read_link(token).person_id)
        link = read_link(token)
        link.used_at = clock.now()
        link.save(update_fields=["used_at"])
        person = link.person
        person.set_password(password)
        person.save(update_fields=["password"])
        Session.objects.filter(person=person).delete()
    log.info("staff_link_used", person=person.pk, purpose=link.purpose)
    return person


def _create(username: str, **facts: str) -> User:
    """Names that differ only in the case or width of letters are the same at sign-in."""
    username = User.normalize_username(username)
    taken = NameTaken(_("Somebody has this user name already."))
    if User.objects.filter(username__iexact=username).exists():
        raise taken
    try:
        with transaction.atomic():
            person: User = User.objects.create_user(username, **facts)
    except IntegrityError:
        raise taken from None
    return person


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
