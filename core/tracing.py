"""The log of requests, and one trace id (W3C Trace Context) through a request's log lines, tasks and upstream calls."""

import re
import secrets

import structlog
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from structlog.contextvars import bind_contextvars, get_contextvars

from core.addresses import address_of
from core.middleware import Middleware

# version 00, trace id, parent id, flags; ids of zeros alone are not valid
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def begin_trace(traceparent: object = None) -> None:
    """Go on with the trace that a caller names, else begin a new one; each log line from here on carries its id."""
    match = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    bind_contextvars(trace_id=match[1] if match else secrets.token_hex(16))


def end_trace() -> None:
    """Forget the trace, because the thread serves somebody else next."""
    structlog.contextvars.unbind_contextvars("trace_id")


def traceparent() -> str | None:
    """The header for the next call; None outside of a trace."""
    trace_id = get_contextvars().get("trace_id")
    return f"00-{trace_id}-{secrets.token_hex(8)}-01" if trace_id else None


class TraceMiddleware(Middleware):
    """Names the request's trace in its answer. Stands after the middleware of the log, which begins it."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request, and name its trace in the answer."""
        response = self.get_response(request)
        if here := traceparent():
            response.headers["traceparent"] = here
        return response


class RequestLogMiddleware(RequestMiddleware):
    """django-structlog's, with our client address: its own takes whatever a client writes into X-Forwarded-For."""

    @classmethod
    def bind_ip(cls, request: "HttpRequest") -> None:
        """The address that the proxies which we trust saw; and the trace, before the first line is written."""
        structlog.contextvars.bind_contextvars(ip=address_of(request))
        begin_trace(request.headers.get("traceparent"))
