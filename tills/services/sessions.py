"""The person at a till by PIN: take-over, leaving, present and past people, and a second person who approves there."""

import datetime as dt
from dataclasses import dataclass

import structlog
from django.db import transaction

from audit.models import AuditEvent
from audit.services import record
from core import clock
from policies.services import policies
from staff.errors import FactorRefused
from staff.events import SIGN_OUT
from staff.models import User
from staff.services.own_factors import confirm_password
from tills.errors import PinRests, PinsLocked, TillElsewhere, TillOff, WrongPin
from tills.events import PASSWORD_REFUSED, PIN_SIGN_IN
from tills.models import HeldTill, PinPerson, Till
from tills.services.enrolling import digest_of, find_till
from tills.services.guessing import FREE, Guess, count_guess, forget_own, note_right, note_wrong, seconds_locked
from tills.services.pins import counts, epoch_of, has_pin, is_pin

# A person's last act is noted at most this often, because it costs a write.
_NOTED_EVERY = dt.timedelta(seconds=20)

log = structlog.get_logger()
_LOOKED_BACK = dt.timedelta(days=30)
_MOST = 20


def take_over(till: Till, *, person_pk: int, pin: str, actor: User | None) -> tuple[User, int]:
    """Put this person at this till in place of the person before; return the person, and the account's epoch.

    `actor`: the person who is signed in there. Raises `WrongPin`, `PinsLocked`, `TillElsewhere` or `TillOff`.
    """
    guess, epoch = _look_at(till, person_pk=person_pk, pin=pin, actor=actor)
    person: User = User.objects.get(pk=person_pk)
    with transaction.atomic():
        current = Till.objects.select_for_update().get(pk=till.pk)
        if not current.is_on:
            raise TillOff
        note_right(guess, current)
        is_elsewhere = person.bound_to not in {None, current.branch_id}
        if not is_elsewhere:
            current.held_by, current.active_at = person, clock.now()
            record(PIN_SIGN_IN, actor=person, subject=current.name, facts={"till": current.pk})
        current.save()
    if is_elsewhere:  # only now: the PIN stays counted as right
        raise TillElsewhere
    log.info("pin_sign_in", till=till.pk, person=person.pk)
    return person, epoch


def confirm_pin(till: Till, *, person_pk: int, pin: str, actor: User) -> None:
    """Count and check the PIN of a person who confirms an act at this till; nobody is signed in by it.

    `actor`: the person who is signed in there. Raises `WrongPin`, `PinsLocked` or `TillOff`.
    """
    guess, _epoch = _look_at(till, person_pk=person_pk, pin=pin, actor=actor)
    with transaction.atomic():
        current = Till.objects.select_for_update().get(pk=till.pk)
        if not current.is_on:
            raise TillOff
        note_right(guess, current)
        current.save()


def _look_at(till: Till, *, person_pk: int, pin: str, actor: User | None) -> tuple[Guess, int]:
    guess = count_guess(till.pk, person_pk)
    epoch = epoch_of(person_pk, pin)
    if epoch is None:
        note_wrong(guess, till, actor=actor)
        if guess.locks:
            raise PinsLocked(seconds_locked(Till.objects.get(pk=till.pk)))
        raise WrongPin(FREE - guess.total)
    return guess, epoch


def held_till(person: User, token: str) -> HeldTill | None:
    """The till that this person holds by PIN in the browser with this token, or None.

    A person who was bound to another branch meanwhile no longer holds it.
    """
    if not token or not isinstance(person, PinPerson):
        return None
    till = next((till for till in person.tills if till.digest == digest_of(token)), None)
    return till if till and person.bound_to in {None, till.branch} else None


def is_idle(till: HeldTill | Till) -> bool:
    """Whether nobody has acted there for too long."""
    idle = dt.timedelta(minutes=policies().pin_idle_minutes)
    return till.active_at is None or clock.now() - till.active_at > idle


def note_activity(till: HeldTill) -> None:
    """Note that somebody acted there just now, every 20 seconds at most."""
    now = clock.now()
    if now - till.active_at > _NOTED_EVERY:
        Till.objects.filter(pk=till.pk, active_at__lt=now).update(active_at=now)


def leave(token: str, person: User, *, because: str) -> None:
    """Record that this person leaves the till with this token. `because`: "next", "idle", "till", "more", "ended"."""
    till = find_till(token)
    facts = {"because": because} | ({"till": till.pk} if till else {})
    with transaction.atomic():
        let_go(token, person)
        record(SIGN_OUT, actor=person, facts=facts)
    log.info("till_left", person=person.pk, because=because)


def let_go(token: str, person: User) -> None:
    """Free the till with this token, if this person holds it."""
    if token:
        Till.objects.filter(digest=digest_of(token), held_by_id=person.pk).update(held_by=None)


def note_password(person: User, *, token: str) -> None:
    """After a sign-in with a password at this till: free it, and forget the person's own wrong PINs.

    Wrong PINs under colleagues' names stay, also after a manager's sign-in: a password gives no additional tries. A
    manager unlocks the till on its page, with a second factor.
    """
    till = find_till(token)
    if till is None:
        return
    forget_own(till.pk, person.pk)
    Till.objects.filter(pk=till.pk).exclude(held_by=None).update(held_by=None)
    log.info("till_password_sign_in", till=till.pk, person=person.pk)


@dataclass(frozen=True, kw_only=True)
class Stay:
    """One person at one till by PIN. `until`: None while the person is there."""

    pk: int
    person: User
    since: dt.datetime
    until: dt.datetime | None


def person_there(till: Till) -> User | None:
    """The person at this till by PIN now; the till comes with `held_by__pin`.

    A person who is idle, or whose PIN has ended, does not count, but is signed out only at the next request.
    """
    person = till.held_by
    if person is None or not person.is_active or is_idle(till):
        return None
    pin = getattr(person, "pin", None)
    return person if pin and pin.epoch == person.device_epoch else None


def stays_at(till: Till) -> list[Stay]:
    """The people who worked at this till by PIN in the last 30 days, the latest first, 20 at most."""
    events = AuditEvent.objects.filter(at__gt=clock.now() - _LOOKED_BACK, facts__till=till.pk)
    began = events.filter(kind=PIN_SIGN_IN.key).select_related("person").order_by("-at", "-pk")[:_MOST]
    began_first = list(began)[::-1]
    if not began_first:
        return []
    ends = list(events.filter(kind=SIGN_OUT.key, at__gte=began_first[0].at).order_by("at", "pk"))
    stays = []
    for event, following in zip(began_first, [*began_first[1:], None], strict=True):
        assert event.person is not None  # noqa: S101 - a PIN is somebody's
        left = next((end.at for end in ends if end.at >= event.at and end.person_id == event.person_id), None)
        moments = [moment for moment in (left, following and following.at) if moment]
        if not moments and till.active_at and person_there(till) is None:
            moments = [till.active_at]  # nobody signed out: the last act there
        stays.append(Stay(pk=event.pk, person=event.person, since=event.at, until=min(moments, default=None)))
    return stays[::-1]


def confirm_in_person(person: User, secret: str, *, act: str, actor: User, till_token: str) -> str:
    """The way in which this person was recognised: "pin" or "password". Raises `Refused` when the secret is neither.

    `actor`: the signed-in person. `till_token`: the browser's, or "". Guesses are counted by `act`: call it outside of
    any transaction that may roll back.
    """
    till = find_till(till_token)
    if till and is_pin(secret) and has_pin(person):
        if not counts(person):  # no guess could be right
            raise PinRests
        confirm_pin(till, person_pk=person.pk, pin=secret, actor=actor)
        return "pin"
    try:
        confirm_password(person, secret, counted_as=act)
    except FactorRefused as refusal:
        record(PASSWORD_REFUSED, actor=actor, subject=person.username, facts={"act": act, "reason": refusal.reason})
        raise
    return "password"
