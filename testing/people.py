"""People for tests, and browsers in which they are signed in."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import SESSION_KEY, login
from django.contrib.auth.models import Group
from django.http import HttpRequest
from django.test import Client

from branches.services import all_branches
from core import clock
from policies.services import policies
from staff.allauth_internals import RecoveryCodes, format_hotp_value, hotp_value
from staff.factor_store import EncryptedFactors
from staff.models import User
from staff.roles import ROLES
from staff.services.factors import needs_factor
from staff.sessions import SessionStore

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def make_person(role: str = "", **facts: Any) -> User:
    """A person with this role: one of `ROLES`, "admin", or "" for a person without a role."""
    username = facts.pop("username", role or "nobody")
    user: User = User.objects.create_user(username, password="secret-words", is_superuser=role == "admin", **facts)
    if role in ROLES:
        user.groups.add(Group.objects.get(name=role))
    if needs_factor(User.objects.get(pk=user.pk)):
        give_factor(user)
    return user


def give_factor(person: User) -> None:
    """An authenticator app, as if this person had added one."""
    data = {"secret": EncryptedFactors().encrypt(SECRET)}
    Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data=data)


def code_of(person: User) -> str:
    """A code that is valid now, once. Used codes are forgotten, so that a test need not wait."""
    for app in Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP):
        app.data.pop("last_step", None)
        app.save(update_fields=["data"])
    return str(format_hotp_value(hotp_value(SECRET, int(clock.now().timestamp()) // 30)))


class Browser(Client):
    """A browser that can also confirm a form with a code."""

    def confirm(self, path: str, fields: dict[str, Any] | None = None, **more: Any) -> Any:
        """Post with a fresh code of the signed-in person."""
        person = User.objects.get(pk=self.session[SESSION_KEY])
        return self.post(path, {**(fields or {}), "factor_code": code_of(person)}, **more)


def browser_of(role: str = "", **facts: Any) -> Browser:
    """A browser in which somebody of this role is signed in."""
    return signed_in(make_person(role, **facts))


def signed_in(person: User) -> Browser:
    """A browser in which this person is signed in."""
    # as in a process that has served pages before: it reads these once in five seconds
    policies()
    all_branches()
    browser = Browser()
    # `Client.force_login` first stores a session of nobody, which the sign-in replaces: eight statements of twenty
    request = HttpRequest()
    request.session = SessionStore()
    login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
    request.session.save()
    browser.cookies[settings.SESSION_COOKIE_NAME] = request.session.session_key
    return browser


def give_recovery_codes(person: User) -> list[str]:
    """The codes, as they were shown to this person."""
    codes: list[str] = RecoveryCodes.activate(person).get_unused_codes()
    return codes
