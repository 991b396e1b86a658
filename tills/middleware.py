"""The rules at a till: a PIN session ends with its till, or when idle, and reaches no account page.

A real shop sells with a second factor: a person's own, or the till itself.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from core.access import NotByPin
from core.live import is_poll
from staff.middleware import to_factor
from staff.models import User
from staff.services.factors import sells_by_password_alone
from tills.printing import allow_printer
from tills.services.enrolling import find_till
from tills.services.sessions import held_till, is_idle, note_activity
from tills.sessions import has_ended, leave_till, till_token

# Addresses with these beginnings are refused by PIN, except those of `_OPEN`: signing out, and the language.
_NOT_BY_PIN = ("accounts/", "me/", "staff/", "tills/", "files/")
# The endings of addresses that answer with a file of rows.
_FILES = ("/csv/", "/xlsx/", "/file/", "/whole/")
_OPEN = {"account_logout", "set_language"}
_FOUND = 302


class TillMiddleware:
    """Sets `request.till_token` to this browser's token, or ""; the database says whether it is still valid."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request; send a person who has to type a PIN to the lock screen."""
        token = till_token(request)
        request.till_token = token  # type: ignore[attr-defined]
        if _is_by_pin(request):
            ended = _why_it_ends(request, token)
            if ended:
                leave_till(request, token=token, because=ended)
                return _to_lock_screen(request, ended)
        response = self.get_response(request)
        allow_printer(request, response)
        if token and _asks_to_sign_in(request, response):
            return _to_lock_screen(request)
        return response

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        """Refuse accounts, tills and files by PIN: `NotByPin`. People who sell by password alone add a factor first."""
        match = request.resolver_match
        if match is None or match.url_name in _OPEN:
            return None
        if _is_by_pin(request):
            if match.route.startswith(_NOT_BY_PIN) or match.route.endswith(_FILES):
                raise NotByPin
            return None
        is_free = match.route.startswith("till/") or not _owes_factor(request)
        return None if is_free else to_factor(request, because="selling")


def _is_by_pin(request: HttpRequest) -> bool:
    """Reading the person costs a query, which a request without a session does not make."""
    return settings.SESSION_COOKIE_NAME in request.COOKIES and getattr(request.user, "by_pin", False)


def _owes_factor(request: HttpRequest) -> bool:
    """Whether this person sells by password alone in a browser that is not a till. Only such people cost a query."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not isinstance(request.user, User):
        return False
    token: str = request.till_token  # type: ignore[attr-defined]
    return sells_by_password_alone(request.user) and find_till(token) is None


def _why_it_ends(request: HttpRequest, token: str) -> str:
    """ "" when the session goes on; then the request counts as the person's last act, unless the page made it."""
    assert isinstance(request.user, User)  # noqa: S101 - by PIN
    till = held_till(request.user, token)
    if till is None:
        return "till"
    if has_ended(request):
        return "ended"
    if is_idle(till):
        return "idle"
    request.held_till = till  # type: ignore[attr-defined] # the frame of the page shows it
    if not is_poll(request):
        note_activity(till)
    return ""


def _asks_to_sign_in(request: HttpRequest, response: HttpResponse) -> bool:
    match = request.resolver_match
    is_on_the_way = match is None or match.route.startswith("accounts/") or match.url_name == "till_lock"
    return response.status_code == _FOUND and not is_on_the_way and response["Location"].startswith(_login())


def _login() -> str:
    return reverse(settings.LOGIN_URL)


def _to_lock_screen(request: HttpRequest, because: str = "") -> HttpResponse:
    """`because`: "" for a person who would have to sign in; about their form the view has left a message."""
    if request.method == "POST" and because == "idle":
        because = "unsent"
    address = reverse("till") + (f"?{urlencode({'because': because})}" if because else "")
    return HttpResponseClientRedirect(address) if "HX-Request" in request.headers else redirect(address)
