"""The cookie that makes a browser a till: a random token, signed for one host name."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

# As long as browsers keep one at most; every visit of the lock screen begins it again.
_KEPT_SECONDS = 400 * 24 * 3600


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
