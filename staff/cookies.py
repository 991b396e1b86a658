"""The cookie that makes a browser a known device of the people who have signed in there."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from staff.models import User
from staff.services.devices import KEPT_SECONDS, with_device


def devices_in(request: HttpRequest) -> str:
    """The browser's cookie, for `staff.services.devices`."""
    return request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")


def remember_device(response: HttpResponseBase, request: HttpRequest, person: User) -> None:
    """Make this browser a known one of the person who has just signed in."""
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        with_device(devices_in(request), person),
        max_age=KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
