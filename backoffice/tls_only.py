"""Answers a browser that reaches the port of the pages without the TLS proxy that belongs in front."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from core.middleware import Middleware


class TlsOnlyMiddleware(Middleware):
    """Says what to do, instead of a redirect to TLS, which this port does not speak.

    It runs before Django's redirect and only adds refusals: whatever headers a client forges, the redirect comes next.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer of the rest of the app if the request may have come through the proxy, else our own page (400)."""
        is_through_proxy = settings.BEHIND_TLS_PROXY and "X-Forwarded-Proto" in request.headers
        if not settings.SECURE_SSL_REDIRECT or request.is_secure() or is_through_proxy:
            return self.get_response(request)
        codes = [code for code, _name in settings.LANGUAGES]
        facts = {"site": settings.SITE_URL, "knows_proxy": settings.BEHIND_TLS_PROXY, "codes": codes}
        page = render_to_string("backoffice/tls_only.html", facts)
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return HttpResponse(page, status=400, headers={"Cache-Control": "no-store", "Content-Security-Policy": policy})
