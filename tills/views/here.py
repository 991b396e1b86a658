"""The till itself: the lock screen, the take-over by PIN, and making this browser a till."""

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.addresses import address_of
from tills import services
from tills.errors import CodeRefused, PinsLocked, TillElsewhere, TillOff, WrongPin
from tills.forms import CodeForm, TakeOverForm
from tills.models import Till
from tills.services.guessing import seconds_locked
from tills.sessions import give_till_cookie, leave_till, sign_in_by_pin, take_till_cookie, till_token

_MOST_TILES = 200
_TOO_MANY = 429


@sensitive_post_parameters("pin")
@never_cache
@require_http_methods(["GET", "POST"])
def lock_screen(request: HttpRequest) -> HttpResponse:
    """The people who may take over this till. In a browser that is not a till, the way to enrol it."""
    token = till_token(request)
    till = services.find_till(token)
    if till is None:
        return _not_a_till(request, was_one=bool(token))
    if request.method == "POST":
        return _take_over(request, till)
    return _locked(request, till, token=token)


@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "POST"])
def till_enrol(request: HttpRequest) -> HttpResponse:
    """Use up a code: from now on this browser is the till."""
    form = CodeForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _not_a_till(request, was_one=False)
    try:
        _till, token = services.enrol(form.cleaned_data["code"], address=address_of(request))
    except CodeRefused as refusal:
        return _not_a_till(request, was_one=False, refusal=refusal)
    leave_till(request, token="", because="till")
    response = redirect("till")
    give_till_cookie(response, request, token)
    return response


@require_POST
def till_lock(request: HttpRequest) -> HttpResponse:
    """End the session here at once: for the next cashier, or to sign in with a password."""
    for_more = "more" in request.POST
    leave_till(request, token=till_token(request), because="more" if for_more else "next")
    if not for_more:
        return redirect("till")
    page = request.POST.get("page", "")
    is_ours = url_has_allowed_host_and_scheme(page, allowed_hosts=None)
    return redirect_to_login(page) if is_ours else redirect(settings.LOGIN_URL)


def _take_over(request: HttpRequest, till: Till) -> HttpResponse:
    form = TakeOverForm(request.POST)
    if not form.is_valid():
        return _locked(request, till, form=form)
    facts = form.cleaned_data
    try:
        sign_in_by_pin(request, till, person_pk=facts["person"], pin=facts["pin"])
    except TillOff:
        return _not_a_till(request, was_one=True)
    except (WrongPin, PinsLocked, TillElsewhere) as refusal:
        till.refresh_from_db()
        return _locked(request, till, refusal=refusal, chosen=facts["person"])
    return redirect(settings.LOGIN_REDIRECT_URL)


def _locked(
    request: HttpRequest,
    till: Till,
    *,
    token: str = "",
    form: TakeOverForm | None = None,
    refusal: WrongPin | PinsLocked | TillElsewhere | None = None,
    chosen: int | None = None,
) -> HttpResponse:
    people = list(services.people_with_pin(till)[:_MOST_TILES])
    context = {
        "till": till,
        "people": people,
        "form": form or TakeOverForm(),
        "refusal": refusal,
        "chosen": chosen or (people[0].pk if len(people) == 1 else None),
        "locked": seconds_locked(till),
        "because": request.GET.get("because", ""),
    }
    status = _TOO_MANY if isinstance(refusal, PinsLocked) else 200
    response = render(request, "tills/lock_screen.html", context, status=status)
    if token:
        give_till_cookie(response, request, token)
    return response


def _not_a_till(request: HttpRequest, *, was_one: bool, refusal: CodeRefused | None = None) -> HttpResponse:
    status = _TOO_MANY if refusal and refusal.reason == "slow" else 200
    context = {"form": CodeForm(), "refusal": refusal, "was_one": was_one}
    response = render(request, "tills/not_a_till.html", context, status=status)
    if was_one:
        take_till_cookie(response)
    return response
