"""Known devices: browsers in which a person has signed in before. Strangers' guesses never block them.

A signed cookie names the accounts of a browser, each with the account's epoch. A new password, a link for one, or an
account that is switched off raises the epoch, and then the cookie no longer works for that account.
"""

import secrets

from django.core import signing
from django.db.models import F

from staff.models import User

_SALT = "staff.device"
_MOST_PEOPLE = 12  # people who share one computer
KEPT_SECONDS = 180 * 86_400


def known_device(cookie: str, person: User) -> str:
    """The name of the browser with this cookie if this person has signed in there before, else ""."""
    epoch, name = _accounts(cookie).get(str(person.pk), (None, ""))
    return str(name) if epoch == person.device_epoch else ""


def with_device(cookie: str, person: User) -> str:
    """The cookie that makes its browser a known one of the person who has just signed in there."""
    accounts = _accounts(cookie)
    _epoch, name = accounts.pop(str(person.pk), (0, "")) if known_device(cookie, person) else (0, "")
    accounts[str(person.pk)] = (person.device_epoch, name or secrets.token_urlsafe(9))
    kept = dict(list(accounts.items())[-_MOST_PEOPLE:])
    return signing.dumps(kept, salt=_SALT, compress=True)


def forget_devices(person: User) -> None:
    """Make every browser unknown to this person's account."""
    User.objects.filter(pk=person.pk).update(device_epoch=F("device_epoch") + 1)


def _accounts(cookie: str) -> dict[str, tuple[int, str]]:
    try:
        accounts: dict[str, tuple[int, str]] = signing.loads(cookie, salt=_SALT, max_age=KEPT_SECONDS) if cookie else {}
    except signing.BadSignature:
        accounts = {}
    return accounts
