"""Answers callbacks before the middleware that only people need."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch

from callbacks.api import UpstreamCallback

PATH = "/callbacks/upstream/"


class CallbackMiddleware:
    """Answers the upstream's callbacks without session, form token, sign-in and line in the log of requests.

    Together these cost more than storing a callback, and a caller that signs its messages needs none of them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._receive = UpstreamCallback.as_view()
        self._match = ResolverMatch(self._receive, (), {}, url_name="upstream_callback")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer to a callback, or the answer of the rest of the app."""
        if request.path_info not in {PATH, PATH.rstrip("/")}:  # people type it into the upstream's dashboard
            return self.get_response(request)
        request.resolver_match = self._match  # its name among the measured pages
        response: HttpResponse = self._receive(request).render()
        response.headers["Content-Length"] = str(len(response.content))  # without it the server closes the connection
        return response
