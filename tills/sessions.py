"""The cookie that makes a browser a till, and a person's session there, which begins and ends with a PIN.

The till's cookie is a random token, signed for one host name.
"""

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponseBase

from core.errors import Refused
from staff.models import User
from staff.sessions import note_sign_in
from tills import services
from tills.models import Till

PIN_BACKEND = "tills.backends.PinBackend"
_EPOCH = "pin_epoch"  # a key of the session: the account's epoch when the PIN was checked
# Browsers keep a cookie for 400 days at most; every visit of the lock screen begins this time again.
_KEPT_SECONDS = 400 * 24 * 3600


def sign_in_by_pin(request: HttpRequest, till: Till, *, person_pk: int, pin: str) -> None:
    """Begin a new session of this person at this till; the person before is signed out.

    Raises `WrongPin`, `PinsLocked`, `TillElsewhere` or `TillOff`; then the session stays as it was.
    """
    before = request.user if isinstance(request.user, User) else None
    person, epoch = services.take_over(till, person_pk=person_pk, pin=pin, actor=before)
    request.session.flush()
    login(request, person, backend=PIN_BACKEND)
    note_sign_in(request)
    request.session[_EPOCH] = epoch


def go_on_with(request: HttpRequest, person: User, *, pin: str) -> User | None:
    """Go on after this person has taken a shift over here, in person; return the person signed in now, or None.

    `pin`: "" after a password. At a till the PIN begins this person's session; without a PIN, or after a refusal, the
    till is locked. In any other browser the session stays as it is.
    """
    token: str = getattr(request, "till_token", "")
    till = services.find_till(token)
    if till and person != request.user and not (pin and _is_let_in(request, till, person, pin)):
        leave_till(request, token=token, because="next")
    return request.user if isinstance(request.user, User) else None


def _is_let_in(request: HttpRequest, till: Till, person: User, pin: str) -> bool:
    try:
        sign_in_by_pin(request, till, person_pk=person.pk, pin=pin)
    except Refused:
        return False
    return True


def has_ended(request: HttpRequest) -> bool:
    """Whether the PIN of this session has ended since: a reset, a link, a new password, a lost role."""
    assert isinstance(request.user, User)  # noqa: S101 - by PIN
    return bool(request.session.get(_EPOCH) != request.user.device_epoch)


def leave_till(request: HttpRequest, *, token: str, because: str) -> None:
    """End the session of the person who is signed in here, by PIN or password. `because`: see `services.leave`."""
    if isinstance(request.user, User):
        services.leave(token, request.user, because=because)
        logout(request)


def till_token(request: HttpRequest) -> str:
    """The token of this browser, if it was given out on this host name; "" otherwise."""
    token = request.get_signed_cookie(settings.TILL_COOKIE_NAME, default="", salt=_salt(request))
    return token or ""


def give_till_cookie(response: HttpResponseBase, request: HttpRequest, token: str) -> None:
    """Let the browser keep the token; no script and no other site reads it."""
    response.set_signed_cookie(
        settings.TILL_COOKIE_NAME,
        token,
        salt=_salt(request),
        max_age=_KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def take_till_cookie(response: HttpResponseBase) -> None:
    """Let the browser forget that it was a till."""
    response.delete_cookie(settings.TILL_COOKIE_NAME, samesite="Lax")


def _salt(request: HttpRequest) -> str:
    return f"tills.cookie:{request.get_host().partition(':')[0].lower()}"
