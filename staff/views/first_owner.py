"""The page that a new shop begins with: the holder of the printed key becomes its owner."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from core.addresses import address_of, line_of
from staff import services
from staff.errors import NameTaken
from staff.forms import FirstOwnerForm
from staff.services.throttle import Slowed
from staff.views.factors import AFTER_CODES
from staff.views.links import private
from staff.views.signing_in import begin_session

_TOO_MANY = 429


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def first_owner(request: HttpRequest) -> HttpResponse:
    """Make the owner, sign this person in; a second factor is asked for next. Nothing is here once there is one."""
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
