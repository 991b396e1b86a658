"""The only emergency account: an owner whose password and codes are sealed in an envelope."""

import secrets

import structlog
from allauth.mfa.models import Authenticator
from django.db import transaction

from audit.services import record
from core.rights import Role
from staff.allauth_internals import TOTP, generate_totp_secret
from staff.events import PASSWORD_CHANGED, STAFF_INVITED
from staff.models import BREAK_GLASS, Session, User
from staff.roles import give_role
from staff.services.devices import forget_devices
from staff.services.own_factors import new_recovery_codes

_PASSWORD_BYTES = 18

log = structlog.get_logger()


def is_break_glass(person: User) -> bool:
    """Whether this is the emergency account."""
    return person.username == BREAK_GLASS


@transaction.atomic
def make_break_glass() -> tuple[str, list[str]]:
    """The emergency account's new password and recovery codes; older ones no longer work."""
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    person, is_new = User.objects.select_for_update(no_key=True).get_or_create(
        username=BREAK_GLASS, defaults={"first_name": "Break glass"}
    )
    person.set_password(password)
    person.is_active = True
    person.save(update_fields=["password", "is_active"])
    give_role(person, Role.OWNER)
    Session.objects.filter(person=person).delete()
    forget_devices(person)
    Authenticator.objects.filter(user_id=person.pk).delete()
    TOTP.activate(person, generate_totp_secret())  # nobody knows it: the codes of the envelope replace it
    codes = new_recovery_codes(person, actor=None)
    record(STAFF_INVITED if is_new else PASSWORD_CHANGED, subject=BREAK_GLASS, after={"role": Role.OWNER.value})
    log.warning("break_glass_made", person=person.pk)
    return password, codes
