"""Makes a browser a till, and ends that."""

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable

import structlog
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from audit.events import SETTING_CHANGED
from audit.services import record
from branches.errors import BranchRefused
from branches.models import FIRST
from branches.services import keep_open
from core import clock
from core.addresses import line_of
from core.parts import FromRooms
from core.rights import Right
from staff.models import User
from staff.services import throttle
from tills.errors import CodeRefused, TillNameTaken
from tills.events import TILL_CODE_MADE, TILL_ENROLLED, TILL_SWITCHED_OFF, UNLOCKED
from tills.models import EnrolmentCode, Till, TillPrinter

CODE_MINUTES = 15
# Without letters and digits that are mistaken for one another when read aloud; 8 of them are 39 random bits.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH = 8
_PACE = throttle.Pace(free=5, first=30, longest=900)
_REPLACING: FromRooms[Callable[[Till, Till], None]] = FromRooms("parts")
#: A decorator of a room's function: it gives what people chose for the first till to the second, which replaces it.
replaces = _REPLACING.add

log = structlog.get_logger()


def make_code(*, name: str, pin_limit: int | None, actor: User, branch: int = FIRST) -> str:
    """A code for the browser that is to be the till `name` in this branch: valid once, for `CODE_MINUTES`.

    Only its digest is stored. Raises `TillNameTaken` as `refuse_name`.
    """
    refuse_name(name, actor=actor)
    code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
    now = clock.now()
    with transaction.atomic():
        EnrolmentCode.objects.create(
            digest=_digest_of_code(code),
            name=name,
            pin_limit=pin_limit,
            branch_id=branch,
            made_by=actor,
            made_at=now,
            expires_at=now + dt.timedelta(minutes=CODE_MINUTES),
        )
        record(TILL_CODE_MADE, actor=actor, subject=name, facts={"pin_limit": pin_limit})
    log.info("till_code_made", by=actor.pk, till=name)
    return code


def refuse_name(name: str, *, actor: User) -> None:
    """Raise `TillNameTaken` for the name of a till that the actor does not see, because a new one would replace it."""
    if _is_of_another_branch(name, actor):
        raise TillNameTaken


def enrol(typed: str, *, address: str) -> tuple[Till, str]:
    """Use up the code; returns the till, and the token for this browser's cookie. Raises `CodeRefused`.

    The new till replaces one of the same name, whose browser is no longer a till, and keeps its printer and what rooms
    above store for it (`replaces`). Each client's guesses are slowed.
    """
    key = throttle.Key.of(_PACE, "till_code", line_of(address))
    try:
        throttle.take(key)
    except throttle.Slowed as slowed:
        raise CodeRefused("slow", wait=slowed.seconds) from slowed
    token = secrets.token_urlsafe(32)
    try:
        till = _enrol(typed, token)
    except IntegrityError:  # another browser became a till of this name meanwhile, and is replaced
        till = _enrol(typed, token)
    throttle.give_back(key)
    log.info("till_enrolled", by=till.enrolled_by_id, till=till.pk)
    return till, token


@transaction.atomic
def _enrol(typed: str, token: str) -> Till:
    code = _lock_code(typed)
    now = clock.now()
    code.used_at = now
    code.save(update_fields=["used_at"])
    replaced = list(Till.objects.select_for_update().filter(name__iexact=code.name, switched_off_at=None))
    for before in replaced:
        _switch_off(before, now)
    till = Till.objects.create(
        name=code.name,
        digest=digest_of(token),
        branch_id=code.branch_id,
        enrolled_by=code.made_by,
        enrolled_at=now,
        pin_limit=code.pin_limit,
    )
    TillPrinter.objects.filter(till__in=replaced).update(till=till)  # its printer still stands at that counter
    for before in replaced:
        for replace in _REPLACING.all():
            replace(before, till)
    facts = {"till": till.pk, "pin_limit": till.pin_limit}
    record(TILL_ENROLLED, actor=code.made_by, subject=till.name, facts=facts)
    return till


def find_till(token: str) -> Till | None:
    """The till whose browser has this token in its cookie, if it is still a till."""
    if not token:
        return None
    return Till.objects.select_related("held_by").filter(digest=digest_of(token), switched_off_at=None).first()


def change_till(till: Till, *, name: str, pin_limit: int | None, actor: User, branch: int | None = None) -> None:
    """Give the till another name, limit or branch; they hold at the next request.

    Raises the same as `lock_change`. `till`: as the person saw it. Limit and branch are written only if they differ
    from that till's: only then did the person confirm them.
    """
    with transaction.atomic():
        current = lock_change(till, name=name, branch=branch)
        before = {"name": current.name, "pin_limit": current.pin_limit, "branch": current.branch_id}
        current.name = name
        if branch and branch != till.branch_id:
            current.branch_id = branch
        if pin_limit != till.pin_limit:
            current.pin_limit = pin_limit
        try:
            with transaction.atomic():
                current.save(update_fields=["name", "pin_limit", "branch"])
        except IntegrityError:  # another till got the name at the same moment
            raise TillNameTaken from None
        after = {"name": name, "pin_limit": current.pin_limit, "branch": current.branch_id}
        record(SETTING_CHANGED, actor=actor, subject=f"till {current.pk}", before=before, after=after)
    log.info("till_changed", till=till.pk)


def lock_change(till: Till, *, name: str, branch: int | None) -> Till:
    """The till as stored now, locked for this change. Raises `TillNameTaken`; `BranchRefused` for a closed branch."""
    current = Till.objects.select_for_update().get(pk=till.pk)
    if branch and branch != till.branch_id:
        keep_open(branch)
    if Till.objects.filter(name__iexact=name, switched_off_at=None).exclude(pk=current.pk).exists():
        raise TillNameTaken
    return current


def switch_off(till: Till, *, actor: User | None) -> None:
    """End the till: at the next request its browser is not a till, and the person there by PIN is signed out.

    `actor`: None for a command.
    """
    with transaction.atomic():
        current = Till.objects.select_for_update().get(pk=till.pk)
        if not current.is_on:
            return
        _switch_off(current, clock.now())
        record(TILL_SWITCHED_OFF, actor=actor, subject=current.name, facts={"till": current.pk})
    log.info("till_switched_off", till=till.pk)


def unlock_pins(till: Till, *, actor: User) -> None:
    """Let PINs count again at this till, and forget the wrong ones."""
    with transaction.atomic():
        current = Till.objects.select_for_update().get(pk=till.pk)
        if not (current.wrong_pins or current.pin_locked_until):
            return
        current.wrong_pins, current.pin_locks, current.pin_locked_until = {}, 0, None
        current.save(update_fields=["wrong_pins", "pin_locks", "pin_locked_until"])
        record(UNLOCKED, actor=actor, subject=current.name, facts={"till": current.pk})
    log.info("till_unlocked", till=till.pk)


def digest_of(token: str) -> str:
    """The digest of a token that the database keeps."""
    return hashlib.sha256(token.encode()).hexdigest()


def _digest_of_code(code: str) -> str:
    """A keyed hash, because a plain hash would reveal such a short code."""
    return salted_hmac("tills.code", code, algorithm="sha256").hexdigest()


def _lock_code(typed: str) -> EnrolmentCode:
    text = "".join(letter for letter in typed.upper() if letter.isalnum())
    code = EnrolmentCode.objects.select_for_update(of=["self"]).filter(digest=_digest_of_code(text)).first()
    if code is None:
        raise CodeRefused("unknown")
    if code.used_at:
        raise CodeRefused("used")
    is_backed = _may_enrol(code.made_by) and not _is_of_another_branch(code.name, code.made_by)
    if code.expires_at <= clock.now() or not is_backed:
        raise CodeRefused("expired")
    try:
        keep_open(code.branch_id)
    except BranchRefused:
        raise CodeRefused("expired") from None
    return code


def _may_enrol(person: User) -> bool:
    return person.is_active and person.has_perm(Right.ENROL_TILLS)


def _is_of_another_branch(name: str, person: User) -> bool:
    """Whether a till has this name in a branch that the person, who is bound to another one, does not see."""
    if person.bound_to is None:
        return False
    return Till.objects.filter(name__iexact=name, switched_off_at=None).exclude(branch=person.bound_to).exists()


def _switch_off(till: Till, now: dt.datetime) -> None:
    till.switched_off_at, till.held_by = now, None
    till.save(update_fields=["switched_off_at", "held_by"])
