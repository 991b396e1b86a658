"""The receipt printer of the till at which a request was made, and what its pages need to reach it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from core.middleware import permissions_policy
from tills.models import TillPrinter
from tills.printed import Line
from tills.services import find_printer

# The features of a browser that all other pages refuse (`core.middleware`)
_FEATURES = ("usb", "serial")
_NEXT = "print_next"  # of the session


def printer_here(request: HttpRequest) -> TillPrinter | None:
    """The printer of this browser's till; None where it prints with the browser's window, or is no till.

    Asked once a request; a browser that never was a till takes no query.
    """
    token: str = getattr(request, "till_token", "")
    if not hasattr(request, "till_printer"):
        printer = find_printer(token) if token else None
        request.till_printer = printer  # type: ignore[attr-defined]
    found: TillPrinter | None = request.till_printer  # type: ignore[attr-defined]
    return found


def reach_printer(request: HttpRequest, printer: TillPrinter) -> dict[str, Any]:
    """The facts for the page's script; its answer lets the page use the one feature that this printer takes."""
    request.printer_feature = printer.way  # type: ignore[attr-defined]
    return {
        "way": printer.way,
        "roll": int(printer.roll),
        "language": printer.language,
        "codepage": printer.codepage,
        "speed": printer.speed,
    }


def print_job(request: HttpRequest, printer: TillPrinter, lines: Sequence[Line]) -> dict[str, Any]:
    """These lines for this printer, as JSON."""
    return {"printer": reach_printer(request, printer), "lines": list(lines)}


def print_next(request: HttpRequest, key: str) -> None:
    """Have the next page of this print (`key`) print by itself, once: a page that is loaded again does not."""
    if printer_here(request):
        request.session[_NEXT] = key


def is_next(request: HttpRequest, key: str) -> bool:
    """Whether this page prints by itself; the next time it does not."""
    return bool(request.session.pop(_NEXT, "") == key)


def allow_printer(request: HttpRequest, response: HttpResponse) -> None:
    """Say in the answer that its page reaches the printer, where it does."""
    feature = getattr(request, "printer_feature", "")
    if feature in _FEATURES:
        response.headers["Permissions-Policy"] = permissions_policy(feature)
