"""Signing in through the provider of OpenID Connect in the settings: to the provider, and back."""

import jwt
import structlog
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from requests import RequestException

from audit.services import record
from core.addresses import address_of, line_of
from core.rights import Role
from staff.allauth_internals import statekit
from staff.errors import OutsideRefused
from staff.events import SIGN_IN_FAILED
from staff.models import User
from staff.provider import KEY, ProviderAnswers, way_to_provider
from staff.roles import role_of
from staff.services import throttle
from staff.services.attempts import CLIENT
from staff.services.outside import person_of, waiting_role
from staff.services.second import Change
from staff.sessions import note_provider
from staff.views.signing_in import begin_session

_FAULTS = (OAuth2Error, RequestException, jwt.PyJWTError, ValueError, KeyError, TypeError, AttributeError)

log = structlog.get_logger()


@never_cache
@require_GET
def oidc_sign_in(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. Each try is counted until a person comes back signed in."""
    if not settings.OIDC_ISSUER:
        raise Http404
    if request.user.is_authenticated or request.headers.get("Sec-Fetch-Site") == "cross-site":
        return redirect("account_login")
    try:
        throttle.take(_client(request))
        return way_to_provider(request, next_url=get_next_redirect_url(request))
    except throttle.Slowed as slowed:
        return _refused(request, OutsideRefused("slow", wait=slowed.seconds))
    except _FAULTS as fault:
        log.warning("oidc_unusable", fault=type(fault).__name__, address=address_of(request))
        return _refused(request, OutsideRefused("provider"))


@never_cache
@require_GET
def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Begin the session of the person that the provider names. The second factor comes next, as after a password."""
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        state = _state(request)
        person = person_of(_claims(request, state))
    except OutsideRefused as refusal:
        return _refused(request, refusal)
    throttle.give_back(_client(request))
    if change := waiting_role(person):
        _ask_second(request, person, change)
    note_provider(request, settings.OIDC_ISSUER)
    return begin_session(request, person, redirect_url=str(state.get("next") or "") or None)


def _ask_second(request: HttpRequest, person: User, change: Change) -> None:
    """Let the room above ask for the approval of the rest of the role, and tell the person."""
    request.asks_second = (person, change)  # type: ignore[attr-defined] # approvals.middleware
    role, now = Role(change.content["after"]), role_of(person)
    words = _("%(name)s says that you are %(role)s here. A colleague has to approve that first. Until then: %(now)s.")
    facts = {"name": settings.OIDC_NAME, "role": role.label, "now": now.label if now else _("no role")}
    messages.warning(request, words % facts, extra_tags="role_waits")


def _state(request: HttpRequest) -> dict[str, object]:
    """The facts that the session stored for the way back; they can be read once. Raises `OutsideRefused`."""
    state: dict[str, object] | None = statekit.unstash_state(
        request, state_id=request.GET.get("state", ""), provider_id=KEY
    )
    if state is None:
        raise OutsideRefused("stale")
    return state


def _claims(request: HttpRequest, state: dict[str, object]) -> dict[str, object]:
    if "code" not in request.GET:
        raise OutsideRefused("cancelled" if request.GET.get("error") == "access_denied" else "provider")
    try:
        return ProviderAnswers(request).claims(state)
    except _FAULTS as fault:
        log.warning("oidc_refused", fault=type(fault).__name__, address=address_of(request))
        record(SIGN_IN_FAILED, facts={"by": "oidc", "reason": "provider"})
        raise OutsideRefused("provider") from fault


def _client(request: HttpRequest) -> throttle.Key:
    return throttle.Key.of(CLIENT, "oidc", line_of(address_of(request)))


def _refused(request: HttpRequest, refusal: OutsideRefused) -> HttpResponse:
    messages.error(request, str(refusal), extra_tags=refusal.reason)
    return redirect("account_login")
