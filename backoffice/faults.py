"""What a person sees when a form is not accepted, or the database is away."""

from __future__ import annotations

import sys
from urllib.parse import urlencode, urlsplit

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve, reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.defaults import server_error

# Sent again they do nothing twice: each form names its one order.
_REPEATABLE = frozenset({"product_buy", "bill_pay", "bill_batch_pay"})
_TRY_AGAIN_SECONDS = 5
# SQLSTATE classes of a server that is away, starts, stops or has no room; without one there was no connection.
_AWAY = ("08", "53", "57P")


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """Nothing was done; lead back to the page of the form, with what its address holds, by way of signing in.

    At a till every take-over makes new form tokens: a form of the person before is refused, and not led back to.
    """
    if getattr(request, "till_token", "") and request.user.is_authenticated:
        return render(request, "tills/taken_over.html", status=403)
    page = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        parts = urlsplit(page)
        back = parts.path + (f"?{parts.query}" if parts.query else "")
    else:
        back = request.get_full_path()
    if not request.user.is_authenticated:
        back = f"{reverse('account_login')}?{urlencode({'next': back})}"
    return render(request, "403_csrf.html", {"back": back}, status=403)


def fault(request: HttpRequest) -> HttpResponse:
    """503 with a page that tries again by itself while the database is away; 500 for any other fault of ours.

    A request that did not reach its view has stored nothing. One that did may have: the same form is sent again, and
    names the same order.
    """
    if not _database_is_away(sys.exc_info()[1]):
        return server_error(request)
    is_sent_again = request.method == "POST" and _name_of(request) in _REPEATABLE
    facts = {
        "is_form": request.method not in {"GET", "HEAD"},
        "is_sent_again": is_sent_again,
        "is_untouched": request.resolver_match is None,
        "fields": [(name, value) for name, values in request.POST.lists() for value in values] if is_sent_again else [],
        "seconds": _TRY_AGAIN_SECONDS,
    }
    with translation.override(translation.get_language_from_request(request)):
        page = render_to_string("503.html", facts)
    headers = {"Retry-After": str(_TRY_AGAIN_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)


def _database_is_away(error: BaseException | None) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)


def _name_of(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).url_name or ""
    except Resolver404:
        return ""
