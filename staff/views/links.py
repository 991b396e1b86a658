"""The page that a single-use link opens: its holder chooses a password."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from staff.errors import LinkRefused
from staff.forms import ChoosePasswordForm
from staff.services import accept_link, read_link
from staff.views.signing_in import begin_session

_STATUS = {"unknown": 404}
_GONE = 410


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def access_link(request: HttpRequest) -> HttpResponse:
    """Show the form; use the link up only when a password that is good enough was chosen, and sign the person in."""
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
    """The address holds the token: other sites get its host only. With no referrer at all Django refuses the form."""
    answer.headers["Referrer-Policy"] = "strict-origin"
    return answer
