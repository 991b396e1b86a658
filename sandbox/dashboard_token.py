"""The dashboard and the control API need the token, because every user of this machine reaches their port.

`./run` prints the dashboard's link with it. The control API, which moves balances and settles orders, takes the token
as a bearer. The wire under /v1/ needs signatures instead.
"""

import hmac
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse

COOKIE = "sandbox_token"
_OPEN = ("/v1/", "/static/")
_CONTROL, _BEARER = "/control/", "Bearer "


class DashboardTokenMiddleware:
    """Moves the token from the address into a cookie; without either, the dashboard is 403. Off if no token is set.

    The control API accepts no cookie: a foreign page's request would bring it along.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The page, a redirect that sets the cookie, or a 403."""
        if not settings.SANDBOX_TOKEN or request.path.startswith(_OPEN):
            return self.get_response(request)
        if request.path.startswith(_CONTROL):
            given = request.headers.get("Authorization", "")
            if given.startswith(_BEARER) and _is_token(given.removeprefix(_BEARER)):
                return self.get_response(request)
            return JsonResponse({"error": "the token of ./run is missing or wrong"}, status=403)
        if request.method == "GET" and _is_token(request.GET.get("token", "")):
            answer: HttpResponse = HttpResponseRedirect("/" + request.path.lstrip("/"))
            answer.set_cookie(COOKIE, settings.SANDBOX_TOKEN, httponly=True, samesite="Lax")
            return answer
        if _is_token(request.COOKIES.get(COOKIE, "")):
            return self.get_response(request)
        words = "This dashboard opens with the link that ./run prints, or that the pages of the shop have.\n"
        return HttpResponse(words, status=403, content_type="text/plain")


def _is_token(given: str) -> bool:
    return hmac.compare_digest(given.encode(), settings.SANDBOX_TOKEN.encode())
