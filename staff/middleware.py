"""The language of the page: the person's own choice, else the browser's, else Indonesian."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation


class LanguageOfPersonMiddleware:
    """Activate the signed-in person's language; before sign-in, the cookie's or the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request in that language and say so in `Content-Language`."""
        chosen = getattr(request.user, "language", "") if self._has_session(request) else ""
        language = chosen or translation.get_language_from_request(request)
        with translation.override(language):
            request.LANGUAGE_CODE = language
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", language)
            return response

    @staticmethod
    def _has_session(request: HttpRequest) -> bool:
        # Asking who is signed in costs a query; the callback endpoint and the health checks carry no session.
        return settings.SESSION_COOKIE_NAME in request.COOKIES
