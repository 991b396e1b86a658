"""The address for callbacks, before the steps that only people need."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch

from callbacks.api import UpstreamCallback

PATH = "/callbacks/upstream/"


class CallbackMiddleware:
    """Answers the upstream's callbacks: no session, no form token, no sign-in and no line in the log of requests.

    Together these cost more than storing a callback does, and none of them is for a caller that signs what it sends.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._receive = UpstreamCallback.as_view()
        self._match = ResolverMatch(self._receive, (), {}, url_name="upstream_callback")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer to a callback, or the answer of the rest of the app."""
        if request.path_info != PATH:
            return self.get_response(request)
        request.resolver_match = self._match  # its name among the measured pages
        response: HttpResponse = self._receive(request).render()
        response.headers["Content-Length"] = str(len(response.content))  # else the server ends the connection
        return response
