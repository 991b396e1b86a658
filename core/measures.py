"""Measures the time of pages, calls and tasks. The processes of one machine share `PROMETHEUS_MULTIPROC_DIR`."""

import time

from django.http import HttpRequest, HttpResponse
from prometheus_client import Histogram

from core.middleware import Middleware

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

PAGE_SECONDS = Histogram(
    "backoffice_page_seconds", "Time to answer a request.", ["page", "method", "status"], buckets=_SECONDS
)
CALL_SECONDS = Histogram(
    "backoffice_upstream_call_seconds", "Time of a call to the upstream.", ["endpoint", "outcome"], buckets=_SECONDS
)
TASK_SECONDS = Histogram("backoffice_task_seconds", "Time of a task.", ["task"], buckets=_SECONDS)


class PageTimeMiddleware(Middleware):
    """Measures each request by the name of its page, never by its address: there is no limit to addresses."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        page = request.resolver_match.view_name if request.resolver_match else "none"
        method = request.method if request.method in {"GET", "POST", "HEAD"} else "other"
        PAGE_SECONDS.labels(page, method, response.status_code).observe(time.perf_counter() - began)
        return response
