"""The log of requests: one line when a request begins and one when it ends, with the person's key and address."""

from typing import TYPE_CHECKING

import structlog
from django_structlog.middlewares import RequestMiddleware

from core.addresses import address_of
from core.tracing import begin_trace

if TYPE_CHECKING:
    from django.http import HttpRequest


class RequestLogMiddleware(RequestMiddleware):
    """django-structlog's own one would take any address that a client writes into X-Forwarded-For."""

    @classmethod
    def bind_ip(cls, request: "HttpRequest") -> None:
        """The address that the proxies which we trust saw; and the trace, before the first line is written."""
        structlog.contextvars.bind_contextvars(ip=address_of(request))
        begin_trace(request.headers.get("traceparent"))
