"""The first owner of a shop, made on a page: by the one-time key that the start has printed."""

import hashlib
import secrets

from django.conf import settings
from django.db import connection, transaction

from core.rights import Role
from staff.models import User
from staff.services import throttle
from staff.services.guards import has_owner
from staff.services.links import accept_link, invite

# Any number that only this transaction lock uses.
_LOCK = 7_310_003
_PACE = throttle.Pace(free=5, first=60, longest=3600)


def awaits_owner() -> bool:
    """Whether the start has printed a key, and the shop has no owner yet."""
    return bool(settings.FIRST_KEY_DIGEST) and not has_owner()


def is_first_key(key: str, *, address: str) -> bool:
    """Whether this is the printed key. Wrong ones are counted by the client's address. Raises `throttle.Slowed`."""
    tries = throttle.Key.of(_PACE, "first_key", address)
    throttle.take(tries)
    is_right = secrets.compare_digest(hashlib.sha256(key.encode()).hexdigest(), settings.FIRST_KEY_DIGEST)
    if is_right:
        throttle.forget(tries)
    return is_right


def make_first_owner(*, username: str, full_name: str, password: str) -> User | None:
    """The new owner, who can sign in; None when another owner was made meanwhile. Raises `NameTaken`.

    The caller has checked the key.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        if has_owner():
            return None
        _person, token = invite(username=username, role=Role.OWNER, actor=None, full_name=full_name)
        return accept_link(token, password)
