"""People who sign in through the provider that OIDC_ISSUER names: their account, and the role that a claim says.

A claim gives a role at once. If the role brings the person more rights of two people, it takes a second person here,
like a manager's change. Until then the person has the present role or one that takes no second person.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import structlog
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.services import record
from branches.services import keep_first_open
from core.rights import Role
from staff.errors import NameTaken, NotAllowed, OutsideRefused
from staff.events import OUTSIDE_LINKED, ROLE_CHANGED, SIGN_IN_FAILED
from staff.models import BREAK_GLASS, Session, User
from staff.roles import EDITABLE, give_role, role_of
from staff.services.devices import forget_devices
from staff.services.guards import lock_for_change, refuse_demo, refuse_last_owner
from staff.services.links import create_person, withdraw_open_links, withdraw_unbacked_links
from staff.services.second import Change, colleagues_for, outside_role, rights_of, takes_two

_LONGEST_NAME = 150
_CLAIMED = "role"  # the key in a linked account's data: the last data from the provider

log = structlog.get_logger()


def role_in(claims: Mapping[str, Any]) -> Role | None:
    """The highest role that OIDC_ROLES has for a value of the claim; None without one."""
    claimed = claims.get(settings.OIDC_CLAIM)
    values = claimed if isinstance(claimed, list) else [claimed]
    roles = {
        Role(settings.OIDC_ROLES[value]) for value in values if isinstance(value, str) and value in settings.OIDC_ROLES
    }
    return max(roles, key=lambda role: role.rank, default=None)


def person_of(claims: Mapping[str, Any]) -> User:
    """The person of these claims, with the role: only issuer and `sub` identify the account.

    A first sign-in makes an account without a password. Raises `OutsideRefused`; then a person
    without a claimed role has lost the role here, too. `waiting_role` is the role that waits for a second person.
    """
    role, subject = role_in(claims), str(claims["sub"])
    with transaction.atomic():
        linked = _linked(subject)
        if linked is None:
            person, reason = _new_person(claims, role) if role else (None, "no_role")
        else:
            person, reason = linked, _reason_against(linked, role)
            _take_over_role(linked, None if reason == "no_role" else role)
            _note_claim(subject, None if reason == "no_role" else role, is_let_in=not reason)
    if reason or person is None:
        facts = {"by": "oidc", "reason": reason, "account": person.pk if person else None}
        record(SIGN_IN_FAILED, subject=person.username if person else "", facts=facts)
        log.warning("sign_in_refused", reason=reason, person=person.pk if person else None)
        raise OutsideRefused(reason)
    return person


def waiting_role(person: User) -> Change | None:
    """The role that the provider says and that this person gets with a second person's approval; None without one."""
    role = _claimed_role(person)
    return None if role is None or role is role_of(person) else outside_role(person, role)


def claims_of(people: Collection[int]) -> QuerySet[SocialAccount]:
    """The stored data of these people from the provider, in the order of keys."""
    links: QuerySet[SocialAccount] = SocialAccount.objects.filter(user_id__in=people, provider=settings.OIDC_ISSUER)
    return links.order_by("pk")


def claimed_role(links: Iterable[SocialAccount]) -> Role | None:
    """The last role by the provider for the person with these links; None without one."""
    claimed = next((link.extra_data.get(_CLAIMED) for link in links), None)
    return Role(claimed) if claimed in Role.values else None


def lock_claimed_role(person: User, role: Role) -> Change:
    """The change of giving the role that the provider says, with all people concerned locked.

    Raises `NotAllowed` when the provider says another role by now, or the person no longer signs in there.
    """
    locked = lock_for_change(person, actor=None)
    if not (locked.is_active and locked.is_outside and _claimed_role(locked) is role):
        raise NotAllowed("other_claim")
    return outside_role(locked, role)


def give_claimed_role(person: User, role: Role, *, approved_by: User) -> None:
    """Give the role that the provider says. The approver counts as the person who changed it. Raises `NotAllowed`."""
    with transaction.atomic():
        change = lock_claimed_role(person, role)
        locked = User.objects.get(pk=person.pk)
        give_role(locked, role)
        withdraw_unbacked_links()
        record(
            ROLE_CHANGED,
            actor=approved_by,
            subject=locked.username,
            before={"role": change.content["before"]},
            after={"role": role.value},
            facts={"by": "oidc", "approved_by": approved_by.pk, "alone": False},
        )
    log.info("staff_role_changed", by="oidc", person=locked.pk, role=role.value)


def link_account(person: User, subject: str) -> None:
    """Let this person sign in through the provider, as `subject`, and with no password any more.

    For people who run the server. Raises `NotAllowed`, or `NameTaken` when somebody else is this subject.
    """
    with transaction.atomic():
        locked = lock_for_change(person, actor=None)
        refuse_demo(locked)
        refuse_last_owner(locked)
        if locked.username == BREAK_GLASS:
            raise NotAllowed("own_account")
        other = _linked(subject)
        if other is not None and other != locked:
            raise NameTaken(other.username)
        locked.is_oidc = True
        locked.set_unusable_password()
        locked.save(update_fields=["is_oidc", "password"])
        withdraw_open_links(locked)
        forget_devices(locked)
        Session.objects.filter(person=locked).delete()
        SocialAccount.objects.filter(user_id=locked.pk).delete()
        SocialAccount.objects.create(user_id=locked.pk, provider=settings.OIDC_ISSUER, uid=subject)
        record(OUTSIDE_LINKED, subject=locked.username, after={"issuer": settings.OIDC_ISSUER, "sub": subject})
    log.info("staff_outside_linked", person=locked.pk)


def _linked(subject: str) -> User | None:
    """The person with this `sub`, locked."""
    link = SocialAccount.objects.filter(provider=settings.OIDC_ISSUER, uid=subject).first()
    if link is None:
        return None
    return lock_for_change(User.objects.get(pk=link.user_id), actor=None)


def _reason_against(person: User, role: Role | None) -> str:
    if not person.is_active:
        return "off"
    return "" if role and person.is_oidc else "no_role"


def _new_person(claims: Mapping[str, Any], role: Role) -> tuple[User | None, str]:
    """A new account without a password; or None and the reason. A person of the shop with that name keeps the name."""
    name = _usable_name(claims)
    if not name:
        return None, "no_name"
    try:
        person = create_person(name, first_name=_full_name(claims), branch_id=keep_first_open())
    except NameTaken:
        return None, "name_taken"
    person.is_oidc = True
    person.save(update_fields=["is_oidc"])
    subject = str(claims["sub"])
    SocialAccount.objects.create(
        user_id=person.pk, provider=settings.OIDC_ISSUER, uid=subject, extra_data={_CLAIMED: role.value}
    )
    given, alone = _given_now(person, role)
    _put_role(person, given)
    after = {"issuer": settings.OIDC_ISSUER, "sub": subject, "role": given.value if given else "", "says": role.value}
    facts = {"by": "oidc", "alone": alone}
    record(OUTSIDE_LINKED, actor=person, subject=person.username, after=after, facts=facts)
    log.info("staff_outside_made", person=person.pk, role=after["role"], says=role.value)
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


def _given_now(person: User, role: Role) -> tuple[Role | None, bool]:
    """The role that this claim gives at once; True if it takes a second person and there is none to ask.

    Until a second person approves the rest: the present role if the claim covers it, else the highest lower one that
    takes no second person.
    """
    change = outside_role(person, role)
    if not (change.content["gains"] and takes_two(rights_of(role))):
        return role, False
    # a colleague who held this account lately counts, too: with such a colleague the claim alone raises no role
    if not colleagues_for(change):
        return role, True
    claimed, now = rights_of(role), role_of(person)
    if now is not None and rights_of(now) <= claimed:
        return now, False
    lower = [editable for editable in EDITABLE if editable.rank < role.rank and rights_of(editable) <= claimed]
    weak = [editable for editable in lower if not takes_two(rights_of(editable))]
    return max(weak, key=lambda editable: editable.rank, default=None), False


def _claimed_role(person: User) -> Role | None:
    return claimed_role(claims_of({person.pk}))


def _note_claim(subject: str, role: Role | None, *, is_let_in: bool) -> None:
    """Store the last role by the provider, and the time of a person's successful sign-in."""
    kept: dict[str, Any] = {"extra_data": {_CLAIMED: role.value if role else ""}}
    if is_let_in:
        kept["last_login"] = timezone.now()
    SocialAccount.objects.filter(provider=settings.OIDC_ISSUER, uid=subject).update(**kept)


def _put_role(person: User, role: Role | None) -> None:
    if role is not None:
        give_role(person, role)
        return
    person.is_superuser = person.is_staff = False
    person.save(update_fields=["is_superuser", "is_staff"])
    person.groups.remove(*Group.objects.filter(name__in=EDITABLE))


def _take_over_role(person: User, says: Role | None) -> None:
    """Give the person the role that the claim gives at once; without one, take the role away and end all sessions."""
    if says is None:
        Session.objects.filter(person=person).delete()
        forget_devices(person)
    before = role_of(person)
    if not person.is_oidc:
        return
    role, alone = _given_now(person, says) if says and says is not before else (says, False)
    if role is before:
        return
    _put_role(person, role)
    withdraw_unbacked_links()
    record(
        ROLE_CHANGED,
        actor=person,
        subject=person.username,
        before={"role": before.value if before else ""},
        after={"role": role.value if role else ""},
        facts={"by": "oidc", "alone": alone},
    )
    log.info("staff_role_changed", by="oidc", person=person.pk, role=role.value if role else "")
