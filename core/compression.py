"""Compresses answers that are text, for browsers that accept it."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_TEXTS = {"text/html", "text/csv", "application/json"}


class CompressionMiddleware(GZipMiddleware):
    """Compresses pages, CSV and JSON; a workbook and a picture are compressed already.

    No secret leaks by the length of an answer: docs/security.md says why.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The answer, compressed; a stream stays a stream."""
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        return super().process_response(request, response) if media_type in _TEXTS else response
