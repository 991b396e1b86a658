"""The second factor of a person, and its check at the moment of a sensitive act."""

from collections.abc import Mapping
from typing import NamedTuple

import structlog
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.utils.crypto import constant_time_compare

from audit.services import record
from core import clock
from core.rights import STRONG_RIGHTS, Right
from core.sealing import Unreadable
from staff.allauth_internals import RecoveryCodes, format_hotp_value, hotp_value
from staff.errors import FactorRefused
from staff.events import FACTOR_FAILED, FACTOR_USED
from staff.factor_store import EncryptedFactors
from staff.models import User
from staff.services import throttle
from staff.services.passkeys import NotThisKey, check_key

Type = Authenticator.Type
_SELLING = frozenset({Right.BUY, Right.CHECK_BILLS})

_PERIOD = 30
_STEPS_APART = 1  # the number of periods by which a phone's clock may be off
_LAST_STEP = "last_step"
PACE_OF_CODES = throttle.Pace(free=5, first=30, longest=900)

log = structlog.get_logger()


class Shown(NamedTuple):
    """A shown factor: a code, or the answer of a passkey to the pages at `host`."""

    code: str
    assertion: str
    host: str


def factors_of(person: User) -> list[str]:
    """The kinds of this person's factors ("totp", "webauthn"); recovery codes replace a factor and are not one."""
    known: list[str] | None = getattr(person, "factors", None)  # read with the person of a request
    if known is not None:
        return known
    factors = Authenticator.objects.filter(user_id=person.pk).exclude(type=Type.RECOVERY_CODES)
    return list(factors.values_list("type", flat=True))


def has_factor(person: User) -> bool:
    """Whether this person has a second factor."""
    return bool(factors_of(person))


def needs_factor(person: User) -> bool:
    """Whether this person holds a right that approves, administers or exports full numbers."""
    return person.is_superuser or not STRONG_RIGHTS.isdisjoint(person.get_all_permissions())


def sells_by_password_alone(person: User) -> bool:
    """Whether this person may sell for real money with only a password, although no owner has allowed it."""
    if settings.SANDBOX or has_factor(person):
        return False
    held = person.get_all_permissions()
    return not _SELLING.isdisjoint(held) and Right.SELL_BY_PASSWORD not in held


def is_excused(person: User) -> bool:
    """Whether no factor is asked for: demo staff in the sandbox who have added none."""
    return person.is_demo and settings.SANDBOX and not has_factor(person)


def require_factor(person: User, shown: Shown, *, act: str, content: Mapping[str, object]) -> None:
    """Raise `FactorRefused` unless this is a fresh second factor of the signed-in person.

    A code of the authenticator app or a recovery code, each valid once; or the signature of a passkey for exactly this
    `act` and `content`. A refused act is not stored to continue later. Call it before the act's transaction: a wrong
    code stays counted.
    """
    if person.by_pin:
        raise FactorRefused("pin")
    if is_excused(person):
        return
    if not has_factor(person):
        raise FactorRefused("none")
    use_factor(person, shown, act=act, content=content)


def use_factor(person: User, shown: Shown, *, act: str, content: Mapping[str, object]) -> None:
    """Check this factor and record the result, also for a person who is not signed in yet. Raises `FactorRefused`."""
    if not shown.assertion and not shown.code:
        raise FactorRefused("missing")
    try:
        if shown.assertion:
            _use_key(person, shown, act=act, content=content)
        else:
            use_code(person, shown.code)
    except FactorRefused as refusal:
        log.warning("factor_refused", person=person.pk, act=act, reason=refusal.reason)
        record(FACTOR_FAILED, actor=person, facts={"act": act, "reason": refusal.reason})
        raise
    log.info("factor_used", person=person.pk, act=act)
    record(FACTOR_USED, actor=person, facts={"act": act, "passkey": bool(shown.assertion)})


def _use_key(person: User, shown: Shown, *, act: str, content: Mapping[str, object]) -> None:
    try:
        note_use(check_key(person, shown.assertion, host=shown.host, act=act, content=content))
    except NotThisKey as fault:
        raise FactorRefused("stale") from fault


def codes_key(person: User) -> throttle.Key:
    """The counter of guesses of this person's codes, on all pages together."""
    return throttle.Key.of(PACE_OF_CODES, "factor", person.pk)


def use_code(person: User, code: str) -> None:
    """Use up a code of the app or a recovery code. Raises `FactorRefused`; each person's guesses are slowed."""
    key = codes_key(person)
    try:
        throttle.take(key)
    except throttle.Slowed as slowed:
        raise FactorRefused("slow", wait=slowed.seconds) from slowed
    reason = reason_against(person, code)
    if reason:
        raise FactorRefused(reason)
    throttle.forget(key)


def reason_against(person: User, code: str) -> str:
    """ "" when the code is good: then it is used up. Two requests with one code meet at the row's lock.

    "unreadable" after a change of SECRET_KEY that left the former one out of SECRET_KEY_FALLBACKS.
    """
    try:
        with transaction.atomic():
            mine = Authenticator.objects.select_for_update().filter(user_id=person.pk).exclude(type=Type.WEBAUTHN)
            factors = {factor.type: factor for factor in mine.order_by("pk")}
            reason = _use_app_code(factors[Type.TOTP], code) if Type.TOTP in factors else "wrong"
            if (
                reason == "wrong"
                and Type.RECOVERY_CODES in factors
                and RecoveryCodes(factors[Type.RECOVERY_CODES]).validate_code(code)
            ):
                return ""
            return reason
    except Unreadable:
        log.error("factor_unreadable", person=person.pk)  # noqa: TRY400 - the key is at fault, no line of ours
        return "unreadable"


def _use_app_code(app: Authenticator, code: str) -> str:
    secret = EncryptedFactors().decrypt(app.data["secret"])
    now = int(clock.now().timestamp()) // _PERIOD
    for step in range(now - _STEPS_APART, now + _STEPS_APART + 1):
        if constant_time_compare(format_hotp_value(hotp_value(secret, step)), code):
            if step <= app.data.get(_LAST_STEP, 0):
                return "used"
            app.data[_LAST_STEP] = step
            note_use(app)
            return ""
    return "wrong"


def note_use(factor: Authenticator) -> None:
    """Note the time of its last use."""
    factor.last_used_at = clock.now()
    factor.save(update_fields=["data", "last_used_at"])
