"""The pages of a wrong address, of a form that is not accepted, and of a database that is away.

While the database is away, such a page has no frame of the shop (`fault_frame.html`): the shop's data is unknown.
"""

import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.defaults import server_error
from django_htmx.http import HttpResponseClientRefresh

from core.access import NotByPin
from core.connections import is_away

# Forms that can be sent again and do nothing twice: each names its one order.
_REPEATABLE = frozenset({"counter_send", "counter_pay", "counter_batch_pay"})
# The counter's field and panel, which people ask by a key or a click.
_ASKED_BY = frozenset({"counter-form", "counter-panel"})
_TRY_AGAIN_SECONDS = 5
_BARE = "fault_frame.html"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """400: the request makes no sense."""
    return _shown(request, "400.html", 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: the person lacks the right, or signed in by PIN and has the right only by password."""
    is_by_pin = isinstance(exception, NotByPin) or getattr(getattr(request, "user", None), "lacks_password", False)
    if request.headers.get("HX-Trigger") == "live":
        return _around_part(request, 403)  # the page itself says it
    if _is_asked_part(request):
        words = _("Nothing was done: you are not allowed to do this, or no longer. Ask an admin if you need it.")
        if is_by_pin:
            words = _("Nothing was done: this needs a sign-in with the password, not with a PIN.")
        elif _is_sale(request):
            words = _(
                "Nothing was sold or paid now: you are no longer allowed to sell. The orders show your earlier sales."
            )
        return _around_part(request, 403, words, "not_allowed")
    return _shown(request, "tills/pin_only.html" if is_by_pin else "403.html", 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """404: the address or the row does not exist."""
    if _is_asked_part(request):
        words = _("This press did nothing: what it was about is no longer there. Check this page.")
        return _around_part(request, 404, words, "not_there")
    return _shown(request, "404.html", 404)


def _is_asked_part(request: HttpRequest) -> bool:
    """Whether a person has asked for a part of a page: a form of it, or the counter's panel.

    Other parts are loaded by the page itself, so a page that loads itself again for them might never end.
    """
    is_form = request.method == "POST" or request.headers.get("HX-Trigger") in _ASKED_BY
    return is_form and "HX-Request" in request.headers


def _is_sale(request: HttpRequest) -> bool:
    return request.method == "POST" and _name_of(request) in _REPEATABLE


def _around_part(request: HttpRequest, status: int, words: str = "", code: str = "") -> HttpResponse:
    """Have the page around a part come again, which says the words: htmx shows no page of a fault."""
    if words:
        messages.error(request, words, extra_tags=code)
    answer = HttpResponseClientRefresh()
    answer.status_code = status
    return answer


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """403: nothing was done; the page links back to the form's page with its query, through sign-in if that is needed.

    At a till every take-over makes new form tokens, so a form of the previous person is refused without a link back.
    The page around a part comes again and says it, because htmx shows no page of a fault.
    """
    if "HX-Request" in request.headers:
        words = _(
            "Nothing was done: somebody signed in or out in this browser meanwhile. Check this page, then press again."
        )
        return _around_part(request, 200, words, "form_expired")
    if getattr(request, "till_token", "") and request.user.is_authenticated:
        return render(request, "tills/taken_over.html", status=403)
    page = request.headers.get("Referer", "")
    back, own = request.get_full_path(), {request.get_host()}
    if url_has_allowed_host_and_scheme(page, allowed_hosts=own):
        within = urlunsplit(urlsplit(page)._replace(scheme="", netloc="", fragment=""))
        if url_has_allowed_host_and_scheme(within, allowed_hosts=own):  # its path may begin with two slashes
            back = within
    if not request.user.is_authenticated:
        back = f"{reverse('account_login')}?{urlencode({'next': back})}"
    return _shown(request, "403_csrf.html", 403, {"back": back})


def fault(request: HttpRequest) -> HttpResponse:
    """503 with a page that tries again by itself while the database is away; 500 for any other fault of ours.

    A request that did not reach its view has stored nothing. A request that reached it may have: then the page sends
    the same form again, which names the same order. An unknown address is a 404 while the database is away, too.
    """
    if not is_away(sys.exc_info()[1]):
        return server_error(request)
    name, is_form = _name_of(request), request.method not in {"GET", "HEAD"}
    if name is None and not is_form:  # callbacks have no name, and come again after a 503
        return _bare(request, "404.html", 404)
    is_sent_again = request.method == "POST" and name in _REPEATABLE
    facts = {
        "is_form": is_form,
        "is_sent_again": is_sent_again,
        "is_untouched": request.resolver_match is None,
        "fields": [(name, value) for name, values in request.POST.lists() for value in values] if is_sent_again else [],
        "seconds": _TRY_AGAIN_SECONDS,
    }
    answer = _bare(request, "503.html", 503, facts)
    answer.headers["Retry-After"] = str(_TRY_AGAIN_SECONDS)
    return answer


def _shown(request: HttpRequest, template: str, status: int, facts: Mapping[str, Any] | None = None) -> HttpResponse:
    """The page within the shop's frame, or without a frame while the database is away."""
    try:
        return render(request, template, facts, status=status)
    except (OperationalError, InterfaceError) as error:
        if not is_away(error):
            raise
        return _bare(request, template, status, facts)


def _bare(request: HttpRequest, template: str, status: int, facts: Mapping[str, Any] | None = None) -> HttpResponse:
    """The page without a frame, in the browser's language: none of its templates runs a query."""
    with translation.override(translation.get_language_from_request(request)):
        page = render_to_string(template, {"frame": _BARE, **(facts or {})})
    return HttpResponse(page, status=status, headers={"Cache-Control": "no-store"})


def _name_of(request: HttpRequest) -> str | None:
    """The name of the address, "" if it has none; None when there is no such address."""
    try:
        return resolve(request.path_info).url_name or ""
    except Resolver404:
        return None
