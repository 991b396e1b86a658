"""Who is at a till by PIN: taking over, and leaving."""

from __future__ import annotations

import datetime as dt

import structlog
from django.conf import settings
from django.contrib.auth import login, logout
from django.db import transaction
from django.http import HttpRequest

from audit.kinds import Kind
from audit.services import record
from core import clock
from staff.models import User
from staff.sessions import note_sign_in
from tills.errors import PinsLocked, TillOff, WrongPin
from tills.models import HeldTill, PinPerson, Till
from tills.services.enrolling import digest_of, find_till
from tills.services.guessing import FREE, Guess, count_guess, forget_own, note_right, note_wrong, seconds_locked
from tills.services.pins import epoch_of

PIN_BACKEND = "tills.backends.PinBackend"
EPOCH = "pin_epoch"  # of the session: the account's, when the PIN was looked at
# Someone's last act is noted at most this often: it is one more write.
_NOTED_EVERY = dt.timedelta(seconds=20)

log = structlog.get_logger()


def sign_in_by_pin(request: HttpRequest, till: Till, *, person_pk: int, pin: str) -> User:
    """Begin a new session of this person at this till; whoever was there before is out.

    Raises `WrongPin`, `PinsLocked` or `TillOff`; the session stays as it was then.
    """
    guess, epoch = _look_at(request, till, person_pk=person_pk, pin=pin)
    person: User = User.objects.get(pk=person_pk)
    with transaction.atomic():
        found = Till.objects.select_for_update().get(pk=till.pk)
        if not found.is_on:
            raise TillOff
        note_right(guess, found)
        found.held_by, found.active_at = person, clock.now()
        found.save()
        record(Kind.PIN_SIGN_IN, person=person, request=request, subject=found.name, facts={"till": found.pk})
    request.session.flush()
    login(request, person, backend=PIN_BACKEND)
    note_sign_in(request)
    request.session[EPOCH] = epoch
    log.info("pin_sign_in", till=till.pk, person=person.pk)
    return person


def confirm_pin(request: HttpRequest, till: Till, *, person_pk: int, pin: str) -> None:
    """Count and look at the PIN of somebody who confirms something at this till; nobody is signed in by it.

    Raises `WrongPin`, `PinsLocked` or `TillOff`.
    """
    guess, _epoch = _look_at(request, till, person_pk=person_pk, pin=pin)
    with transaction.atomic():
        found = Till.objects.select_for_update().get(pk=till.pk)
        if not found.is_on:
            raise TillOff
        note_right(guess, found)
        found.save()


def _look_at(request: HttpRequest, till: Till, *, person_pk: int, pin: str) -> tuple[Guess, int]:
    guess = count_guess(till.pk, person_pk)
    epoch = epoch_of(person_pk, pin)
    if epoch is None:
        note_wrong(guess, till, request=request)
        if guess.locks:
            raise PinsLocked(seconds_locked(Till.objects.get(pk=till.pk)))
        raise WrongPin(FREE - guess.total)
    return guess, epoch


def held_till(person: User, token: str) -> HeldTill | None:
    """The till at which this person is by PIN, in the browser with this token; None when there is no such thing."""
    if not token or not isinstance(person, PinPerson):
        return None
    digest = digest_of(token)
    return next((till for till in person.tills if till.digest == digest), None)


def has_ended(request: HttpRequest) -> bool:
    """Whether the PIN of this session has ended since: a reset, a link, a new password, a lost role."""
    assert isinstance(request.user, User)  # noqa: S101 - by PIN
    return bool(request.session.get(EPOCH) != request.user.device_epoch)


def is_idle(till: HeldTill) -> bool:
    """Whether nobody has done anything there for too long."""
    return clock.now() - till.active_at > dt.timedelta(seconds=settings.PIN_IDLE_SECONDS)


def note_activity(till: HeldTill) -> None:
    """Somebody did something there."""
    now = clock.now()
    if now - till.active_at > _NOTED_EVERY:
        Till.objects.filter(pk=till.pk, active_at__lt=now).update(active_at=now)


def leave_till(request: HttpRequest, *, token: str, because: str) -> None:
    """End the session of whoever is signed in here, by PIN or password. `because`: "next", "idle", "till", "more"."""
    person = request.user
    if not isinstance(person, User):
        return
    with transaction.atomic():
        let_go(token, person)
        record(Kind.SIGN_OUT, person=person, request=request, facts={"because": because})
    logout(request)
    log.info("till_left", person=person.pk, because=because)


def let_go(token: str, person: User) -> None:
    """This person leaves the till with this token, if the person was there."""
    if token:
        Till.objects.filter(digest=digest_of(token), held_by_id=person.pk).update(held_by=None)


def note_password(person: User, *, token: str) -> None:
    """Somebody signed in with a password at this till: nobody is there by PIN, and their own wrong PINs are forgotten.

    Those at colleagues' PINs stay, for managers, too: nobody buys tries with a password. A manager unlocks the till on
    its page, with a second factor.
    """
    till = find_till(token)
    if till is None:
        return
    forget_own(till.pk, person.pk)
    Till.objects.filter(pk=till.pk).exclude(held_by=None).update(held_by=None)
    log.info("till_password_sign_in", till=till.pk, person=person.pk)
