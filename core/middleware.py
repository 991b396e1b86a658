"""The parent of our middleware, and steps for every request before a view sees it."""

from collections.abc import Callable
from contextlib import suppress

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import Resolver404, resolve


class Middleware:
    """The parent of our middleware. A subclass answers requests in `__call__`; `get_response`: the rest of the app."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response


class NoNulMiddleware(Middleware):
    """Replaces each NUL in an address's query or a form by the sign of an unreadable letter: PostgreSQL refuses NUL.

    Nobody types a NUL; the sign keeps the value from counting as another one. No address has a NUL in its path.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request without any NUL."""
        if "%00" in request.META.get("QUERY_STRING", ""):
            request.GET = _without_nul(request.GET)  # type: ignore[assignment]
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> None:
        """Clean a form once a view has been found: without a view nobody reads the request's body."""
        if request.method == "POST" and any(
            "\0" in value for _name, values in request.POST.lists() for value in values
        ):
            request.POST = _without_nul(request.POST)  # type: ignore[assignment]


class FormAddressMiddleware(Middleware):
    """Leads a person who opens the address of a form (from the history, say) to the page above it: 405 says nothing."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, or redirect to the nearest page above."""
        answer = self.get_response(request)
        is_page = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
        return HttpResponseRedirect(_page_above(request.path)) if answer.status_code == 405 and is_page else answer


def _page_above(path: str) -> str:
    parts = path.strip("/").split("/")
    while parts:
        parts.pop()
        above = "".join(("/", *(f"{part}/" for part in parts)))
        with suppress(Resolver404):
            resolve(above)
            return above
    return "/"


def _without_nul(typed: QueryDict) -> QueryDict:
    clean = typed.copy()
    for name, values in typed.lists():
        clean.setlist(name, [value.replace("\0", "\ufffd") for value in values])
    return clean


# Features of a browser that no page of ours uses: a smuggled script cannot use them, either. Only pages that print
# directly use USB and serial ports (`tills.printing`). Bluetooth is not listed: browsers without it complain of it.
_NOT_USED = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
    "fullscreen", "gamepad", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "serial", "storage-access", "usb",
    "xr-spatial-tracking",
)  # fmt: skip
_OWN = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")


def permissions_policy(*more: str) -> str:
    """The header for a page that uses these features, too."""
    refused = [f"{name}=()" for name in _NOT_USED if name not in more]
    return ", ".join([*refused, *(f"{name}=(self)" for name in (*_OWN, *more))])


PERMISSIONS_POLICY = permissions_policy()


class BrowserPolicyMiddleware(Middleware):
    """Says which browser features a page may use, and that no other site may load our answers as part of its own."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response
