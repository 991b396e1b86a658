"""People's steps with their own second factors, and an owner's step for a lost one."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from allauth.mfa.models import Authenticator
from django.db import transaction

from audit.services import record
from core.sealing import Unreadable
from staff.allauth_internals import TOTP, RecoveryCodes, generate_totp_secret
from staff.errors import FactorRefused, NotAllowed
from staff.events import FACTOR_ADDED, FACTOR_REMOVED
from staff.factor_store import EncryptedFactors
from staff.models import Session, User
from staff.services import throttle
from staff.services.devices import forget_devices
from staff.services.factors import needs_factor, reason_against
from staff.services.guards import lock_for_change
from staff.services.passkeys import NotThisKey, add_passkey
from staff.services.people import end_sessions

Type = Authenticator.Type
_PASSWORD = throttle.Pace(free=5, first=30, longest=900)
_MOST_PASSKEYS = 10

log = structlog.get_logger()


def own_factors(person: User) -> list[Authenticator]:
    """The app and the passkeys of this person, oldest first."""
    return list(Authenticator.objects.filter(user_id=person.pk).exclude(type=Type.RECOVERY_CODES).order_by("pk"))


def recovery_codes_left(person: User) -> int:
    """The number of unused recovery codes of this person."""
    kept = Authenticator.objects.filter(user_id=person.pk, type=Type.RECOVERY_CODES).first()
    return len(RecoveryCodes(kept).get_unused_codes()) if kept else 0


def confirm_password(person: User, password: str, *, counted_as: str = "password") -> None:
    """Raise `FactorRefused` unless this is the person's password.

    `counted_as`: the name of the counter. Guesses that other people may type in the person's name have a separate
    counter.
    """
    try:
        with counted_password(person, counted_as):
            if not person.check_password(password):
                raise FactorRefused("password")
    except throttle.Slowed as slowed:
        raise FactorRefused("slow_password", wait=slowed.seconds) from slowed


@contextmanager
def counted_password(person: User, counted_as: str = "password") -> Iterator[None]:
    """Count a guess of this password, which is right if the block raises nothing. Raises `Slowed`."""
    key = throttle.Key.of(_PASSWORD, counted_as, person.pk)
    throttle.take(key)
    yield
    throttle.forget(key)


def new_app_secret(person: User) -> tuple[str, str]:
    """A secret for an app, and the same sealed for this person: the form sends it back."""
    secret = generate_totp_secret()
    return secret, EncryptedFactors().encrypt(f"{person.pk}:{secret}")


def open_app_secret(person: User, sealed: str) -> str:
    """The secret of `new_app_secret`. Raises `FactorRefused`."""
    try:
        owner, _colon, secret = EncryptedFactors().decrypt(sealed).partition(":")
    except Unreadable as fault:
        raise FactorRefused("stale") from fault
    if owner != str(person.pk):
        raise FactorRefused("stale")
    return secret


def add_app(person: User, secret: str, code: str, *, session_key: str | None) -> list[str]:
    """Add the authenticator app that shows `code`; returns recovery codes if they are new. Raises `FactorRefused`.

    `session_key`: the session that stays open when this is the first factor.
    """
    with transaction.atomic():
        _lock(person)
        if Authenticator.objects.filter(user_id=person.pk, type=Type.TOTP).exists():
            raise FactorRefused("twice")
        TOTP.activate(person, secret)
        reason = reason_against(person, code.replace(" ", ""))
        if reason:
            raise FactorRefused("app_code")
        return _added(person, Type.TOTP, session_key)


def add_key(person: User, answer: str, *, host: str, name: str, session_key: str | None) -> list[str]:
    """Add the passkey that the browser made for `host`, as `add_app` does. Raises `FactorRefused`."""
    with transaction.atomic():
        _lock(person)
        if Authenticator.objects.filter(user_id=person.pk, type=Type.WEBAUTHN).count() >= _MOST_PASSKEYS:
            raise FactorRefused("too_many")
        try:
            add_passkey(person, answer, host=host, name=name)
        except NotThisKey as fault:
            raise FactorRefused("stale") from fault
        return _added(person, Type.WEBAUTHN, session_key)


def remove_factor(person: User, factor: Authenticator) -> None:
    """Remove one factor, and with the last one the recovery codes. Raises `FactorRefused` for a needed factor."""
    with transaction.atomic():
        _lock(person)
        others = Authenticator.objects.filter(user_id=person.pk).exclude(type=Type.RECOVERY_CODES).exclude(pk=factor.pk)
        is_last = not others.exists()
        if is_last and needs_factor(person):
            raise FactorRefused("needed")
        Authenticator.objects.filter(pk=factor.pk, user_id=person.pk).delete()
        if is_last:
            Authenticator.objects.filter(user_id=person.pk).delete()
        record(FACTOR_REMOVED, actor=person, subject=person.username, before={"kind": factor.type})
    log.info("factor_removed", person=person.pk, kind=factor.type)


def new_recovery_codes(person: User, *, actor: User | None) -> list[str]:
    """New recovery codes; the old ones no longer work. `actor`: the person, or None for a command."""
    with transaction.atomic():
        _lock(person)
        Authenticator.objects.filter(user_id=person.pk, type=Type.RECOVERY_CODES).delete()
        codes: list[str] = RecoveryCodes.activate(person).get_unused_codes()
        record(FACTOR_ADDED, actor=actor, subject=person.username, after={"kind": Type.RECOVERY_CODES.value})
    log.info("factor_added", person=person.pk, kind=Type.RECOVERY_CODES.value)
    return codes


def reset_factors(person: User, *, actor: User | None) -> int:
    """Remove all factors of a person who has lost them, and sign out everywhere; return their number.

    `actor`: an owner, or None for a command. Raises `NotAllowed`.
    """
    with transaction.atomic():
        locked = lock_factor_reset(person, actor=actor)
        removed = own_factors(locked)
        Authenticator.objects.filter(user_id=locked.pk).delete()
        forget_devices(locked)
        Session.objects.filter(person=locked).delete()
        kinds = [factor.type for factor in removed]
        record(FACTOR_REMOVED, actor=actor, subject=locked.username, before={"kinds": kinds})
    log.warning("factors_reset", by=actor.pk if actor else "command", person=locked.pk)
    return len(removed)


def lock_factor_reset(person: User, *, actor: User | None) -> User:
    """The person, locked with all people of the change. Raises `NotAllowed` if the factors may not be removed."""
    locked = lock_for_change(person, actor=actor)
    if actor is not None and not actor.is_superuser:
        raise NotAllowed("owner_only")
    return locked


def _added(person: User, kind: Authenticator.Type, session_key: str | None) -> list[str]:
    record(FACTOR_ADDED, actor=person, subject=person.username, after={"kind": kind.value})
    log.info("factor_added", person=person.pk, kind=kind.value)
    if Authenticator.objects.filter(user_id=person.pk, type=Type.RECOVERY_CODES).exists():
        return []
    # the first factor: other sessions began with only the password, and now have to show the factor
    end_sessions(person, actor=person, but=session_key)
    return new_recovery_codes(person, actor=person)


def _lock(person: User) -> None:
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
