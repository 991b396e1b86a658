"""PINs: refuses weak ones, stores them hashed, checks them, and ends them.

A PIN ends with every act that makes known devices unknown (`staff.services.devices`): a link or a new password, factors
that were reset, "sign out everywhere" by a manager, an account switched off, a role that the provider took away.
"""

import datetime as dt
from collections.abc import Iterator
from itertools import pairwise

import structlog
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, PBKDF2PasswordHasher
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.crypto import salted_hmac

from audit.services import record
from core import clock
from core.sealing import Opens
from staff.models import OutsideAccount, User
from tills.events import PIN_REMOVED, PIN_SET
from tills.models import Pin, Till

LENGTH = 6
_HALF = LENGTH // 2

log = structlog.get_logger()


class PinHasher(PBKDF2PasswordHasher):
    """Django's hasher, at a cost that leaves most of two seconds to the page.

    At any cost a million PINs are soon tried. Two things keep a copy of the database from opening a till: the key in
    the hash, and the till's cookie, which each PIN needs.
    """

    iterations = 100_000


def is_pin(text: str) -> bool:
    """Whether these digits can be a PIN."""
    return len(text) == LENGTH and text.isascii() and text.isdecimal()


def is_weak(pin: str) -> bool:
    """Whether it is among the first PINs that people try: repeats, sequences, or halves of either."""
    digits = [int(digit) for digit in pin]
    return (
        len(set(digits)) <= 2
        or pin[:2] * _HALF == pin
        or pin[:_HALF] * 2 == pin
        or pin[::2] == pin[1::2]
        or _is_run(digits)
        or (_is_run(digits[:_HALF]) and _is_run(digits[_HALF:]))
    )


def has_pin(person: User) -> bool:
    """Whether this person has set a PIN that has not ended."""
    return Pin.objects.filter(person_id=person.pk, epoch=person.device_epoch).exists()


def counts(person: User) -> bool:
    """Whether the person's PIN, which has not ended, is taken now."""
    return Pin.objects.filter(_counts("", "person__"), person_id=person.pk).exists()


def people_with_pin(till: Till) -> QuerySet[User]:
    """The people who may take this till over, by name."""
    people: QuerySet[User] = User.objects.who_see(till.branch_id).filter(_counts("pin__", ""))
    return people.order_by("first_name", "last_name", "username")


def _counts(pin: str, person: str) -> Q:
    """The condition that a PIN counts; the arguments are the prefixes of its columns and of its person's.

    The PIN of a person from the provider counts for as long after a sign-in there as a session lasts. If the shop has
    no provider any more, the PIN counts after this person has set a password here.
    """
    counts = Q(**{f"{person}is_active": True, f"{pin}epoch": F(f"{person}device_epoch")})
    if settings.OIDC_ISSUER:
        since = clock.now() - dt.timedelta(seconds=settings.SESSION_COOKIE_AGE)
        seen = OutsideAccount.objects.filter(provider=settings.OIDC_ISSUER, last_login__gte=since)
        counts &= Q(**{f"{person}is_oidc": False}) | Q(**{f"{person}pk__in": seen.values("user_id")})
    else:
        has_none = Q(**{f"{person}password__startswith": UNUSABLE_PASSWORD_PREFIX})
        counts &= Q(**{f"{person}is_oidc": False}) | ~has_none
    return counts


def set_pin(person: User, pin: str) -> None:
    """Store this PIN in place of the old one. If the account was reset during the typing, the PIN has already ended."""
    encoded = hashed(person.pk, pin, settings.SECRET_KEY)
    kept = {"encoded": encoded, "set_at": clock.now(), "epoch": person.device_epoch}
    with transaction.atomic():
        Pin.objects.update_or_create(person_id=person.pk, defaults=kept)
        record(PIN_SET, actor=person, subject=person.username)
    log.info("pin_set", person=person.pk)


def remove_pin(person: User) -> None:
    """Delete the PIN, so that this person cannot take over a till any more."""
    with transaction.atomic():
        if Pin.objects.filter(person_id=person.pk).delete()[0]:
            record(PIN_REMOVED, actor=person, subject=person.username)
    log.info("pin_removed", person=person.pk)


def epoch_of(person_pk: int, pin: str) -> int | None:
    """The epoch of this PIN, if it is this person's and counts; else None.

    Only `tills.services.sessions` calls it, after it has counted the guess.
    """
    kept = Pin.objects.filter(_counts("", "person__"), person_id=person_pk).first()
    if kept is None:
        return None
    keys = [str(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    if not any(PinHasher().verify(_keyed(person_pk, pin, key), kept.encoded) for key in keys):
        return None
    if _opened_by(kept.encoded) is not Opens.PRESENT:
        again = hashed(person_pk, pin, settings.SECRET_KEY)
        Pin.objects.filter(person_id=person_pk, encoded=kept.encoded).update(encoded=again)
    return kept.epoch


def keys_of_pins() -> Iterator[tuple[str, Opens]]:
    """The user name of each person with a PIN that counts, and the key that the PIN needs."""
    for pin in Pin.objects.filter(_counts("", "person__")).select_related("person").order_by("person__username"):
        yield pin.person.username, _opened_by(pin.encoded)


def hashed(person_pk: int, pin: str, secret: str) -> str:
    """The PIN as the database stores it. Its salt begins with the name of the key, which shows the PINs of each key."""
    hasher = PinHasher()
    return hasher.encode(_keyed(person_pk, pin, secret), f"{_name_of(secret)}.{hasher.salt()}")


def _opened_by(encoded: str) -> Opens:
    """The key that this hash needs. A hash that names no key may need a former one, if there are any."""
    name, _dot, _salt = str(PinHasher().decode(encoded)["salt"]).rpartition(".")
    if name == _name_of(settings.SECRET_KEY) or not (name or settings.SECRET_KEY_FALLBACKS):
        return Opens.PRESENT
    if not name or name in map(_name_of, settings.SECRET_KEY_FALLBACKS):
        return Opens.FORMER
    return Opens.NONE


def _name_of(secret: str) -> str:
    """A short name of a key, which does not reveal the key."""
    return salted_hmac("tills.pin.key", "", secret=secret, algorithm="sha256").hexdigest()[:8]


def _is_run(digits: list[int]) -> bool:
    """Whether every digit differs from the one before by the same step: 111, 123, 975, 890."""
    steps = {(after - before) % 10 for before, after in pairwise(digits)}
    return len(steps) == 1


def _keyed(person_pk: int, pin: str, secret: str) -> str:
    """The text to be hashed, bound to the person and to our key: the database alone does not help an attacker."""
    return salted_hmac("tills.pin", f"{person_pk}:{pin}", secret=secret, algorithm="sha256").hexdigest()
