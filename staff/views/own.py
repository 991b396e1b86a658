"""The person's own account: its settings, its sessions, and its second factors."""

import json

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.addresses import host_of
from core.errors import refusal_shown
from staff import services
from staff.confirming import check_factor, confirm_own
from staff.errors import FactorRefused
from staff.forms import PreferencesForm
from staff.presenting import FactorLook, in_fours, secret_code, secret_link
from staff.services import end_sessions, open_sessions, own_factors, passkeys
from staff.tables import SessionTable

ADD_APP = act("add_app", pgettext_lazy("audit", "Add an authenticator app"))
ADD_KEY = passkeys.ADD
REMOVE = act("remove_factor", pgettext_lazy("audit", "Remove a second factor"))
NEW_CODES = act("new_codes", pgettext_lazy("audit", "New recovery codes"))
AFTER_CODES = "after_codes"  # in the session of a new shop's owner: the page that follows the recovery codes
_LONGEST_NAME = 40


@staff_only()
@require_http_methods(["GET", "POST"])
def preferences(request: StaffRequest) -> HttpResponse:
    """Choose language and look for every browser of this person; below, the browsers signed in now."""
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        # Say it in the language that was just chosen.
        with translation.override(user.language or translation.get_language_from_request(request)):
            messages.success(request, _("Saved."))
        return redirect("preferences")
    table = SessionTable(open_sessions(request.user), current=request.session.session_key)
    return render(request, "staff/preferences.html", {"form": form, "table": table})


@staff_only()
@require_POST
def sign_out_elsewhere(request: StaffRequest) -> HttpResponse:
    """End all sessions of this person except this one."""
    end_sessions(request.user, actor=request.user, but=request.session.session_key)
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("preferences")


@staff_only()
@require_GET
def own_factors_page(request: StaffRequest) -> HttpResponse:
    """The person's own factors; a person who needs one and has none begins here."""
    factors = own_factors.own_factors(request.user)
    context = {
        "factors": [FactorLook(factor) for factor in factors],
        "has_app": any(factor.type == own_factors.Type.TOTP for factor in factors),
        "codes_left": own_factors.recovery_codes_left(request.user),
        "is_needed": services.needs_factor(request.user),
    }
    return render(request, "staff/own_factors.html", context)


@staff_only()
@require_http_methods(["GET", "POST"])
def factor_app(request: StaffRequest) -> HttpResponse:
    """Add an authenticator app: show its secret, and take a code that proves that the app has it."""
    person = request.user
    error: FactorRefused | None = None
    secret, sealed = own_factors.new_app_secret(person)
    if request.method == "POST":
        try:
            sealed = request.POST.get("secret", "")
            secret = own_factors.open_app_secret(person, sealed)
            confirm_own(request, act=ADD_APP, content={})
            codes = own_factors.add_app(
                person, secret, request.POST.get("app_code", ""), session_key=request.session.session_key
            )
            return _after_adding(request, codes)
        except FactorRefused as refusal:
            error = refusal
            if refusal.reason == "stale":
                secret, sealed = own_factors.new_app_secret(person)
    context = {
        "secret": in_fours(secret),
        "app_link": secret_link(person, secret),
        "sealed": sealed,
        "qr_code": secret_code(person, secret),
        "error": error,
        "act": ADD_APP,
    }
    return render(request, "staff/factor_app.html", context)


@staff_only()
@require_http_methods(["GET", "POST"])
def factor_passkey(request: StaffRequest) -> HttpResponse:
    """Add a passkey."""
    error: FactorRefused | None = None
    if request.method == "POST":
        name = request.POST.get("name", "").strip()[:_LONGEST_NAME] or _("Passkey")
        try:
            confirm_own(request, act=ADD_KEY, content={})
            codes = own_factors.add_key(
                request.user,
                request.POST.get("credential", ""),
                host=host_of(request),
                name=name,
                session_key=request.session.session_key,
            )
            return _after_adding(request, codes)
        except FactorRefused as refusal:
            error = refusal
    return render(request, "staff/factor_passkey.html", {"error": error, "act": ADD_KEY})


@staff_only()
@require_POST
def factor_passkey_options(request: StaffRequest) -> HttpResponse:
    """The browser's input to make a passkey for this person."""
    return JsonResponse(passkeys.ask_for_new(request.user, host=host_of(request)))


@staff_only()
@require_POST
def factor_options(request: StaffRequest) -> HttpResponse:
    """The challenge for a passkey of this person, for one act with one content."""
    try:
        content = json.loads(request.POST.get("content", ""))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return HttpResponseBadRequest()
    act_name = request.POST.get("act", "")
    return JsonResponse(passkeys.ask_for_key(request.user, host=host_of(request), act=act_name, content=content))


@staff_only()
@require_POST
def factor_remove(request: StaffRequest, pk: int) -> HttpResponse:
    """Take one factor away."""
    person = request.user
    factor = get_object_or_404(Authenticator.objects.exclude(type="recovery_codes"), pk=pk, user_id=person.pk)
    with refusal_shown(request):
        confirm_own(request, act=REMOVE, content={"factor": factor.pk})
        own_factors.remove_factor(person, factor)
        messages.success(request, _("Removed."))
    return redirect("own_factors")


@staff_only()
@require_POST
def factor_codes(request: StaffRequest) -> HttpResponse:
    """Make new recovery codes; the answer shows them, this once."""
    with refusal_shown(request):
        check_factor(request, act=NEW_CODES, content={})
        return _codes_shown(request, own_factors.new_recovery_codes(request.user, actor=request.user))
    return redirect("own_factors")


def _after_adding(request: StaffRequest, codes: list[str]) -> HttpResponse:
    if codes:
        return _codes_shown(request, codes)
    messages.success(request, _("Added."))
    return redirect("own_factors")


def _codes_shown(request: StaffRequest, codes: list[str]) -> HttpResponse:
    after = request.session.pop(AFTER_CODES, "own_factors")
    return render(request, "staff/recovery_codes.html", {"codes": codes, "next": reverse(after)})
