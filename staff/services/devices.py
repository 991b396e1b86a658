"""Known devices: browsers in which a person has signed in before. Strangers' guesses never keep them out.

A signed cookie names the accounts of a browser, each with the account's epoch. A new password, a link for one, or an
account that is switched off raises the epoch, and the cookie is worth nothing for that account.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.db.models import F
from django.http import HttpRequest, HttpResponseBase

from staff.models import User

_SALT = "staff.device"
_MOST_PEOPLE = 12  # of one shared computer
_DAYS = 180


def known_device(request: HttpRequest, person: User) -> str:
    """The name of this browser if this person has signed in here before, else ""."""
    epoch, name = _accounts(request).get(str(person.pk), (None, ""))
    return str(name) if epoch == person.device_epoch else ""


def remember_device(response: HttpResponseBase, request: HttpRequest, person: User) -> None:
    """Let this browser be a known one of the person, who has just signed in."""
    accounts = _accounts(request)
    _epoch, name = accounts.pop(str(person.pk), (0, "")) if known_device(request, person) else (0, "")
    accounts[str(person.pk)] = (person.device_epoch, name or secrets.token_urlsafe(9))
    kept = dict(list(accounts.items())[-_MOST_PEOPLE:])
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps(kept, salt=_SALT, compress=True),
        max_age=_DAYS * 86_400,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def forget_devices(person: User) -> None:
    """Make every browser a stranger to this person's account."""
    User.objects.filter(pk=person.pk).update(device_epoch=F("device_epoch") + 1)


def _accounts(request: HttpRequest) -> dict[str, tuple[int, str]]:
    cookie = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")
    try:
        found: dict[str, tuple[int, str]] = signing.loads(cookie, salt=_SALT, max_age=_DAYS * 86_400) if cookie else {}
    except signing.BadSignature:
        found = {}
    return found
