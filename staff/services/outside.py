"""People who sign in through the provider that OIDC_ISSUER names: their account, and the role that a claim says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from audit.kinds import Kind
from audit.services import record
from staff.errors import NameTaken, NotAllowed, OutsideRefused
from staff.models import BREAK_GLASS, Session, User
from staff.roles import EDITABLE, Role, give_role, role_of
from staff.services.devices import forget_devices
from staff.services.guards import lock_for_change, refuse_demo, refuse_last_owner
from staff.services.links import create_person, withdraw_open_links, withdraw_unbacked_links

_LONGEST_NAME = 150

log = structlog.get_logger()


def role_in(claims: Mapping[str, Any]) -> Role | None:
    """The highest role that OIDC_ROLES has for a value of the claim; None without one."""
    said = claims.get(settings.OIDC_CLAIM)
    values = said if isinstance(said, list) else [said]
    roles = {
        Role(settings.OIDC_ROLES[value]) for value in values if isinstance(value, str) and value in settings.OIDC_ROLES
    }
    return max(roles, key=lambda role: role.rank, default=None)


def person_of(claims: Mapping[str, Any], *, request: HttpRequest) -> User:
    """Whoever these claims are about, with the role that they say: the account is known by issuer and `sub` alone.

    A first sign-in makes an account without a password. Raises `OutsideRefused`; then nobody is let in, and who has no
    role any more has lost it here, too.
    """
    role, subject = role_in(claims), str(claims["sub"])
    with transaction.atomic():
        linked = _linked(subject)
        if linked is None:
            person, reason = _new_person(claims, role, request) if role else (None, "no_role")
        else:
            person, reason = linked, _reason_against(linked, role)
            _take_over_role(linked, None if reason == "no_role" else role, request)
    if reason or person is None:
        facts = {"by": "oidc", "reason": reason, "account": person.pk if person else None}
        record(Kind.SIGN_IN_FAILED, request=request, subject=person.username if person else "", facts=facts)
        log.warning("sign_in_refused", reason=reason, person=person.pk if person else None)
        raise OutsideRefused(reason)
    return person


def link_account(person: User, subject: str) -> None:
    """Let this person sign in through the provider, as `subject`, and with no password any more.

    For whoever runs the server. Raises `NotAllowed`, or `NameTaken` when somebody else is this subject.
    """
    with transaction.atomic():
        found = lock_for_change(person, actor=None)
        refuse_demo(found)
        refuse_last_owner(found)
        if found.username == BREAK_GLASS:
            raise NotAllowed("own_account")
        other = _linked(subject)
        if other is not None and other != found:
            raise NameTaken(other.username)
        found.is_oidc = True
        found.set_unusable_password()
        found.save(update_fields=["is_oidc", "password"])
        withdraw_open_links(found)
        forget_devices(found)
        Session.objects.filter(person=found).delete()
        SocialAccount.objects.filter(user_id=found.pk).delete()
        SocialAccount.objects.create(user_id=found.pk, provider=settings.OIDC_ISSUER, uid=subject)
        record(Kind.OUTSIDE_LINKED, subject=found.username, after={"issuer": settings.OIDC_ISSUER, "sub": subject})
    log.info("staff_outside_linked", person=found.pk)


def _linked(subject: str) -> User | None:
    """The person with this `sub`, locked."""
    link = SocialAccount.objects.filter(provider=settings.OIDC_ISSUER, uid=subject).first()
    if link is None:
        return None
    SocialAccount.objects.filter(pk=link.pk).update(last_login=timezone.now())
    return lock_for_change(User.objects.get(pk=link.user_id), actor=None)


def _reason_against(person: User, role: Role | None) -> str:
    if not person.is_active:
        return "off"
    return "" if role and person.is_oidc else "no_role"


def _new_person(claims: Mapping[str, Any], role: Role, request: HttpRequest) -> tuple[User | None, str]:
    """An account without a password. A name that somebody has here already is nobody else's."""
    name = _usable_name(claims)
    if not name:
        return None, "no_name"
    try:
        person = create_person(name, first_name=_full_name(claims))
    except NameTaken:
        return None, "name_taken"
    person.is_oidc = True
    person.save(update_fields=["is_oidc"])
    give_role(person, role)
    subject = str(claims["sub"])
    SocialAccount.objects.create(user_id=person.pk, provider=settings.OIDC_ISSUER, uid=subject)
    after = {"issuer": settings.OIDC_ISSUER, "sub": subject, "role": role.value}
    record(Kind.OUTSIDE_LINKED, person=person, request=request, subject=person.username, after=after)
    log.info("staff_outside_made", person=person.pk, role=role.value)
    return User.objects.get(pk=person.pk), ""


def _usable_name(claims: Mapping[str, Any]) -> str:
    for claim in ("preferred_username", "email"):
        name = User.normalize_username(str(claims.get(claim) or ""))
        try:
            User.username_validator(name)
        except ValidationError:
            continue
        if len(name) <= _LONGEST_NAME:
            return str(name)
    return ""


def _full_name(claims: Mapping[str, Any]) -> str:
    return "".join(letter for letter in str(claims.get("name") or "") if letter.isprintable())[:_LONGEST_NAME]


def _take_over_role(person: User, role: Role | None, request: HttpRequest) -> None:
    """Give the person just this role; without one, none, and no open page."""
    if role is None:
        Session.objects.filter(person=person).delete()
        forget_devices(person)
    before = role_of(person)
    if before is role or not person.is_oidc:
        return
    if role is None:
        person.is_superuser = person.is_staff = False
        person.save(update_fields=["is_superuser", "is_staff"])
        person.groups.remove(*Group.objects.filter(name__in=EDITABLE))
    else:
        give_role(person, role)
    withdraw_unbacked_links()
    record(
        Kind.ROLE_CHANGED,
        person=person,
        request=request,
        subject=person.username,
        before={"role": before.value if before else ""},
        after={"role": role.value if role else ""},
        facts={"by": "oidc"},
    )
    log.info("staff_role_changed", by="oidc", person=person.pk, role=role.value if role else "")
