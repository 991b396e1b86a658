"""The person of a request: the language, an idle session's end, and the first steps (owner, second factor)."""

from collections.abc import Callable

import structlog
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from audit.services import record
from core.live import is_poll
from staff.events import SIGN_OUT
from staff.models import User
from staff.services import awaits_owner
from staff.services.factors import has_factor, is_excused, needs_factor
from staff.sessions import has_lost_provider, is_over, note_activity

log = structlog.get_logger()


class LanguageOfPersonMiddleware:
    """Activate the signed-in person's language; before sign-in, the cookie's or the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request in that language and say so in `Content-Language`."""
        chosen = getattr(request.user, "language", "") if has_session(request) else ""
        language = chosen or translation.get_language_from_request(request)
        with translation.override(language):
            request.LANGUAGE_CODE = language
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", language)
            return response


def has_session(request: HttpRequest) -> bool:
    """Whether to read the person, which costs a query: callbacks and health checks carry no session."""
    return settings.SESSION_COOKIE_NAME in request.COOKIES


class OwnerFirstMiddleware:
    """Until the shop has an owner, only the page that makes one is open. Health and callbacks were answered before."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._over = ""  # this start's key, once there is an owner: no query any more

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        """Show, instead of the page, where the key was printed. A start that printed none costs no query."""
        match = request.resolver_match
        if self._over == settings.FIRST_KEY_DIGEST or (match and match.url_name in _TO_OWNER):
            return None
        if not awaits_owner():
            self._over = settings.FIRST_KEY_DIGEST
            return None
        return render(request, "staff/no_owner.html", status=403)


_TO_OWNER = {"first_owner", "access_link", "set_language"}


class IdleMiddleware:
    """Ends the session of an idle person, or of a person from a provider that is switched off.

    An automatic request of a page is not activity.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> None:
        """It costs no query: the session is read for the person anyway."""
        if not has_session(request) or not isinstance(request.user, User):
            return
        if because := _why_over(request):
            record(SIGN_OUT, actor=request.user, facts={"because": because})
            log.info("session_over", person=request.user.pk, because=because)
            logout(request)
            messages.info(request, _over_words(because), extra_tags=because)
        elif not is_poll(request):
            note_activity(request)


def _why_over(request: HttpRequest) -> str:
    """ "" when the session goes on."""
    if has_lost_provider(request):
        return "provider"
    return "idle" if is_over(request) else ""


def _over_words(because: str) -> str:
    if because == "provider":
        return _(
            "You were signed out: the shop no longer uses the sign-in provider that you came through."
            " Without a password or passkey here, ask a manager for a link."
        )
    return _("You were signed out, because nobody was here for a while.")


class FactorFirstMiddleware:
    """A person who needs a second factor and has none sees only the page that sets one up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        """Redirect to the set-up. It costs no query: the factors came with the person."""
        if not has_session(request) or not isinstance(request.user, User) or not _owes_factor(request.user):
            return None
        return to_factor(request, because="rights")


# The addresses that a person without a factor needs on the way to one.
_OPEN = {
    "access_link",
    "account_change_password",
    "account_login",
    "account_logout",
    "factor_app",
    "own_factors",
    "factor_passkey",
    "factor_passkey_options",
    "preferences",
    "set_language",
}


def to_factor(request: HttpRequest, *, because: str) -> HttpResponse | None:
    """A redirect to the set-up of a second factor; None for pages on the way. `because`: "rights" or "selling"."""
    request.owes_factor = because  # type: ignore[attr-defined] # base.html leaves the shop's menu out
    if request.resolver_match is not None and request.resolver_match.url_name in _OPEN:
        return None
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(reverse("own_factors"))
    return redirect("own_factors")


def _owes_factor(person: User) -> bool:
    return not has_factor(person) and needs_factor(person) and not is_excused(person)
