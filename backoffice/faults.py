"""What a person sees when a form is not accepted."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """Nothing was done; lead back to the page of the form, with what its address holds, by way of signing in."""
    page = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        parts = urlsplit(page)
        back = parts.path + (f"?{parts.query}" if parts.query else "")
    else:
        back = request.get_full_path()
    if not request.user.is_authenticated:
        back = f"{reverse('account_login')}?{urlencode({'next': back})}"
    return render(request, "403_csrf.html", {"back": back}, status=403)
