"""Decides which tries to sign in may go on now, and which have to wait.

Strangers are counted by account and by client. A known device is counted separately, and nobody else's tries affect it.
A person who has to wait may send a code of the second factor. The answer to a wrong code says nothing about the
password, so that guessing passwords in this way first takes a good code. A wrong code with the right password counts
among the person's own codes, so that guessing codes in this way is not faster than after the password.
"""

import unicodedata
from dataclasses import dataclass

import structlog
from django.db import transaction

from audit.services import record
from core.addresses import line_of
from staff.events import LOCKED, SIGN_IN_FAILED
from staff.models import User
from staff.services import throttle
from staff.services.break_glass import is_break_glass
from staff.services.devices import known_device
from staff.services.factors import PACE_OF_CODES, codes_key, has_factor, reason_against

# A whole shop signs in from one address, so that it has more tries and short waits.
ACCOUNT = throttle.Pace(free=5, first=30, longest=900)
CLIENT = throttle.Pace(free=30, first=5, longest=60)
EMERGENCY = throttle.Pace(free=5, first=5, longest=60)  # its password is too long to guess, so it never waits long
DEVICE = throttle.Pace(free=8, first=15, longest=300)
WITH_CODE = throttle.Pace(free=5, first=30, longest=900)

log = structlog.get_logger()


@dataclass
class Attempt:
    """One try: it counts as wrong until `succeeded` is called."""

    address: str
    person: User | None
    keys: tuple[throttle.Key, ...]
    wait: int
    is_known: bool = False
    has_shown_factor: bool = False

    def succeeded(self) -> None:
        """The password is right."""
        own, *shared = self.keys
        throttle.forget(own)
        throttle.give_back(*shared)

    def failed(self) -> None:
        """The password is wrong: record that, and the wait if there is one."""
        person = self.person.pk if self.person else None
        log.warning("sign_in_failed", person=person, address=self.address, known_device=self.is_known, wait=self.wait)
        subject = self.person.username if self.person else ""
        facts = {"account": person, "known_device": self.is_known}
        with transaction.atomic():
            record(SIGN_IN_FAILED, subject=subject, facts=facts)
            if self.wait:
                record(LOCKED, subject=subject, facts=facts | {"seconds": self.wait})


def begin_attempt(name: str, password: str, *, address: str, known_devices: str, code: str) -> Attempt:
    """Count a try with this user name, before anybody learns about its password. Raises `Slowed`.

    `known_devices`: the browser's cookie. `code`: a code of the second factor, or "".
    """
    person = User.objects.filter(username__iexact=name).first()
    device = known_device(known_devices, person) if person else ""
    line = line_of(address)
    if person and device:
        own = throttle.Key.of(DEVICE, "device", person.pk, device)
        return Attempt(address, person, (own,), throttle.take(own), is_known=True)
    # in the same way as sign-in finds people: two spellings of one name are one account
    account = ("person", person.pk) if person else ("name", unicodedata.normalize("NFKC", name).casefold())
    pace = EMERGENCY if person and is_break_glass(person) else ACCOUNT
    keys = (throttle.Key.of(pace, *account), throttle.Key.of(CLIENT, "client", line))
    try:
        return Attempt(address, person, keys, throttle.take(*keys))
    except throttle.Slowed as slowed:
        if not code:
            raise
        key = throttle.Key.of(WITH_CODE, "with_code", *account, line)
        wait = throttle.take(key)
        if not _is_good_code(person, password, code, key):
            raise slowed from None
        return Attempt(address, person, (key,), wait, has_shown_factor=True)


def _is_good_code(person: User | None, password: str, code: str, key: throttle.Key) -> bool:
    """Whether the code counts. A wrong name or password takes the same work, so the answer's time reveals nothing."""
    is_theirs = (person or User()).check_password(password)
    codes = codes_key(person) if person and is_theirs else throttle.Key.of(PACE_OF_CODES, "no_code", key.digest)
    try:
        throttle.take(codes)
    except throttle.Slowed:
        return False
    if person is None or not has_factor(person) or reason_against(person, code):
        return False
    throttle.forget(codes)
    return True
