"""What happens to every request before a view sees it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class NoNulMiddleware:
    """Takes NUL out of the parameters of the address: nobody looks for one, and PostgreSQL refuses it.

    Forms refuse it by themselves, and no address has one in its path.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request without any NUL."""
        if "%00" in request.META.get("QUERY_STRING", ""):
            clean = request.GET.copy()
            for name, values in request.GET.lists():
                clean.setlist(name, [value.replace("\0", "") for value in values])
            request.GET = clean  # type: ignore[assignment]
        return self.get_response(request)
