"""Signing in: the step after the password, passkeys instead of it, and changing the own password.

Also the pages on which a person chooses the first password: after a single-use link, and in a new shop, where the
holder of the printed key becomes the owner.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.forms import ChangePasswordForm
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import PasswordChangeView
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from audit.acts import act
from audit.services import record
from core.addresses import address_of, host_of, line_of
from staff import services
from staff.allauth_internals import login_stage_required, perform_login
from staff.confirming import check_factor, shown_factor
from staff.cookies import remember_device
from staff.errors import FactorRefused, LinkRefused, NameTaken
from staff.events import FACTOR_USED, PASSWORD_CHANGED
from staff.forms import ChoosePasswordForm, FirstOwnerForm
from staff.models import User
from staff.services import accept_link, factors, passkeys, read_link
from staff.services.throttle import Slowed
from staff.stages import SecondStep, note_shown_factor
from staff.views.own import AFTER_CODES

SECOND_STEP = act("second_step", pgettext_lazy("audit", "Sign in"))
CHANGE_PASSWORD = act("change_password", pgettext_lazy("audit", "Change the password"))
_View = Callable[[HttpRequest], HttpResponse]
_after_password: Callable[[_View], _View] = login_stage_required(stage=SecondStep.key, redirect_urlname="account_login")
_STATUS = {"unknown": 404}
_GONE = 410
_TOO_MANY = 429


@_after_password
@require_http_methods(["GET", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor after the right password; then the session begins. `give_up` ends the sign-in."""
    stage: SecondStep = request._login_stage  # type: ignore[attr-defined]
    is_given_up = "give_up" in request.POST
    if is_given_up or not stage.is_current():
        if not is_given_up:
            words = _("The account has changed meanwhile. Sign in again.")
            messages.info(request, words, extra_tags="sign_in_over")
        answer: HttpResponse = stage.abort()
        return answer
    person: User = stage.login.user
    error: FactorRefused | None = None
    if request.method == "POST":
        try:
            factors.use_factor(person, shown_factor(request), act=SECOND_STEP, content={})
            return stage.exit()
        except FactorRefused as refusal:
            error = refusal
    context = {"error": error, "kinds": factors.factors_of(person), "is_owner": person.is_superuser}
    return render(request, "account/second_step.html", context)


@_after_password
@require_POST
def second_step_options(request: HttpRequest) -> HttpResponse:
    """The challenge for a passkey of the person who is signing in."""
    person = request._login_stage.login.user  # type: ignore[attr-defined]
    return JsonResponse(passkeys.ask_for_key(person, host=host_of(request), act=SECOND_STEP, content={}))


@never_cache
@require_POST
def passkey_options(request: HttpRequest) -> HttpResponse:
    """The challenge for any passkey of this site, for signing in."""
    return JsonResponse(passkeys.ask_for_key(None, host=host_of(request), act=passkeys.SIGN_IN, content={}))


@never_cache
@require_POST
def passkey_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with only a passkey: it is two factors, a device and a finger, face or PIN."""
    shown = shown_factor(request)
    try:
        used = passkeys.check_key(None, shown.assertion, host=shown.host, act=passkeys.SIGN_IN, content={})
    except passkeys.NotThisKey:
        refusal = FactorRefused("stale")
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect("account_login")
    if used.user.is_outside:
        refusal = FactorRefused("outside")
        messages.error(request, str(refusal), extra_tags=refusal.reason)
        return redirect("account_login")
    factors.note_use(used)
    record(FACTOR_USED, actor=used.user, facts={"act": passkeys.SIGN_IN, "passkey": True})
    note_shown_factor(request, used.user)
    return begin_session(request, used.user, redirect_url=get_next_redirect_url(request))


def begin_session(request: HttpRequest, person: User, *, redirect_url: str | None = None) -> HttpResponse:
    """Sign this person in; first ask for a second factor that was not shown yet."""
    begun: HttpResponse = perform_login(request, Login(user=person, redirect_url=redirect_url))
    return begun


class OwnPassword(PasswordChangeView):  # type: ignore[misc]
    """Change the own password, with the old one, and the second factor if there is one."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """People who sign in through the provider have no password to change."""
        if isinstance(request.user, User) and not request.user.has_usable_password():
            return redirect("preferences")
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer

    def form_valid(self, form: ChangePasswordForm) -> HttpResponseBase:
        """Store the password. Other devices have to sign in again and are unknown; this one stays known."""
        person = form.user
        if factors.has_factor(person):
            try:
                check_factor(self.request, act=CHANGE_PASSWORD, content={})
            except FactorRefused as refusal:
                form.add_error(None, str(refusal))
                invalid: HttpResponseBase = self.form_invalid(form)
                return invalid
        response: HttpResponseBase = super().form_valid(form)
        record(PASSWORD_CHANGED, actor=person)
        remember_device(response, self.request, person)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add `content` for `components/factor_field.html`."""
        return {**super().get_context_data(**kwargs), "content": {}}


own_password = OwnPassword.as_view()


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def access_link(request: HttpRequest) -> HttpResponse:
    """Show the form; use the link up only after the choice of a good password, and sign the person in."""
    token = request.POST.get("link", "") or request.GET.get("link", "")
    try:
        link = read_link(token)
        form = ChoosePasswordForm(link.person, request.POST or None)
        if request.method == "POST" and form.is_valid():
            person = accept_link(token, form.cleaned_data["new_password1"])
            messages.success(request, _("Your password is saved."))
            return begin_session(request, person)
    except LinkRefused as refusal:
        context = {"reason": refusal.reason, "code": refusal.code}
        return private(render(request, "staff/link_refused.html", context, status=_STATUS.get(refusal.reason, _GONE)))
    return private(render(request, "staff/link_open.html", {"form": form, "link": link, "token": token}))


def private(answer: HttpResponse) -> HttpResponse:
    """The address holds the token: other sites get only its host. With no referrer at all Django refuses the form."""
    answer.headers["Referrer-Policy"] = "strict-origin"
    return answer


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def first_owner(request: HttpRequest) -> HttpResponse:
    """Make the first owner and sign this person in; a second factor comes next. 404 once the shop has an owner."""
    if not services.awaits_owner():
        raise Http404
    key = request.POST.get("key", "") or request.GET.get("key", "")
    try:
        if not key or not services.is_first_key(key, address=line_of(address_of(request))):
            return render(request, "staff/no_owner.html", {"is_wrong": bool(key)}, status=403)
    except Slowed as slowed:
        return render(request, "staff/no_owner.html", {"seconds": slowed.seconds}, status=_TOO_MANY)
    form = FirstOwnerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        try:
            person = services.make_first_owner(
                username=typed["username"], full_name=typed["full_name"], password=typed["new_password1"]
            )
        except NameTaken as refusal:
            form.add_error("username", ValidationError(str(refusal), code=refusal.code))
        else:
            if person is None:
                raise Http404
            messages.success(request, _("The shop is yours. Add a second factor now: it protects money and people."))
            answer = begin_session(request, person)
            request.session[AFTER_CODES] = "overview" if settings.SANDBOX else "first_steps"
            return answer
    return private(render(request, "staff/first_owner.html", {"form": form, "key": key}))
