"""Five wrong PINs lock the PINs of a till; ten wrong PINs of one person, at all tills together, lock that PIN.

A PIN is counted before it is checked, under the till's lock, so that simultaneous PINs count one by one, and no PIN is
checked while the till is locked. A right PIN clears the wrong ones of the same person only: nobody gets more tries at a
colleague's PIN with their own.
"""

import datetime as dt
import math
from dataclasses import dataclass

import structlog
from django.db import transaction

from audit.services import record
from core import clock
from staff.events import LOCKED
from staff.models import User
from staff.services import throttle
from tills.errors import PinsLocked, TillOff
from tills.events import PIN_FAILED, PIN_LOCKED
from tills.models import Till

FREE = 5
_FIRST_PAUSE = dt.timedelta(minutes=5)
_LONGEST_PAUSE = dt.timedelta(hours=12)
_MOST_DOUBLINGS = 10
# Wrong PINs are forgotten if no other one follows within this time: they were mistakes.
_FORGOTTEN_AFTER = dt.timedelta(hours=12)
# Counts one person's wrong PINs at all tills together: several tills let nobody guess faster.
_OF_PERSON = throttle.Pace(free=10, first=300, longest=43_200, kept_hours=12)

log = structlog.get_logger()


@dataclass(frozen=True)
class Guess:
    """A PIN that was counted and may be checked. `locks`: it is the till's last try.

    `seconds`: the time for which this person's PIN does not count if it is wrong.
    """

    person: int
    total: int
    locks: bool
    seconds: int


def count_guess(till_pk: int, person_pk: int) -> Guess:
    """Count one PIN for this person at this till. Raises `PinsLocked`: then it may not be checked."""
    now = clock.now()
    with transaction.atomic():
        till = _lock(till_pk)
        till.guesses += 1
        if till.wrong_at and now - till.wrong_at > _FORGOTTEN_AFTER:
            till.wrong_pins, till.pin_locks = {}, 0
        wait, is_person = _seconds_left(till, now), False
        if not wait:
            try:
                seconds = throttle.take(_of_person(person_pk))
            except throttle.Slowed as slowed:
                wait, is_person = slowed.seconds, True
        if not wait:
            till.wrong_pins[str(person_pk)] = till.wrong_pins.get(str(person_pk), 0) + 1
            till.wrong_at = now
            if till.wrong_count >= FREE:
                till.pin_locked_until = now + _pause_after(till.pin_locks)
                till.pin_locks = min(till.pin_locks + 1, _MOST_DOUBLINGS)
        till.save(update_fields=["guesses", "wrong_pins", "wrong_at", "pin_locks", "pin_locked_until"])
    if wait:
        raise PinsLocked(wait, is_person=is_person)
    return Guess(person=person_pk, total=till.wrong_count, locks=till.wrong_count >= FREE, seconds=seconds)


def note_right(guess: Guess, till: Till) -> None:
    """The PIN was right: its person's count begins again. `till` is locked, and saved by the caller."""
    throttle.forget(_of_person(guess.person))
    till.wrong_pins.pop(str(guess.person), None)
    if guess.locks or till.wrong_count < FREE:
        till.pin_locked_until = None
        till.pin_locks = max(till.pin_locks - 1, 0) if till.wrong_pins else 0


def forget_own(till_pk: int, person_pk: int) -> None:
    """Forget the wrong PINs of a person who has signed in with a password, and end a lock that they caused."""
    with transaction.atomic():
        till = _lock(till_pk)
        throttle.forget(_of_person(person_pk))
        if till.wrong_pins.pop(str(person_pk), None) is None:
            return
        if till.wrong_count < FREE:
            till.pin_locked_until = None
            till.pin_locks = till.pin_locks if till.wrong_pins else 0
        till.save(update_fields=["wrong_pins", "pin_locks", "pin_locked_until"])


def note_wrong(guess: Guess, till: Till, *, actor: User | None) -> None:
    """Note a wrong PIN in the audit, and a lock of the till that follows. `actor`: the signed-in person."""
    person = User.objects.filter(pk=guess.person).first()
    subject = person.username if person else ""
    with transaction.atomic():
        record(PIN_FAILED, actor=actor, subject=subject, facts={"till": till.name})
        if guess.locks:
            record(PIN_LOCKED, actor=actor, subject=till.name, facts={"till": till.pk})
        if guess.seconds:
            record(LOCKED, actor=actor, subject=subject, facts={"till": till.name, "seconds": guess.seconds})
    log.warning("pin_failed", till=till.pk, person=guess.person, locked=guess.locks)


def seconds_locked(till: Till) -> int:
    """Seconds for which no PIN counts at this till; 0 when PINs count."""
    return _seconds_left(till, clock.now())


def _of_person(person_pk: int) -> throttle.Key:
    return throttle.Key.of(_OF_PERSON, "pin", person_pk)


def _lock(till_pk: int) -> Till:
    till = Till.objects.select_for_update().filter(pk=till_pk, switched_off_at=None).first()
    if till is None:
        raise TillOff
    return till


def _seconds_left(till: Till, now: dt.datetime) -> int:
    if till.pin_locked_until is None or till.pin_locked_until <= now:
        return 0
    return math.ceil((till.pin_locked_until - now).total_seconds())


def _pause_after(locks: int) -> dt.timedelta:
    return min(_FIRST_PAUSE * (1 << locks), _LONGEST_PAUSE)
