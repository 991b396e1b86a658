"""Finds the receipt printer of the till that sent a request, and the facts with which its pages reach it."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from django.http import HttpRequest, HttpResponse

from core.access import StaffRequest
from core.middleware import permissions_policy
from staff.models import User
from tills import services
from tills.models import TillPrinter

# The features of a browser that all other pages refuse (`core.middleware`)
_FEATURES = ("usb", "serial")
# Keys of the session.
_NEXT = "print_next"
_OPENING = "cash_drawer"
Line: TypeAlias = dict[str, Any]
Look: TypeAlias = Literal["", "bold", "tall", "big"]
# Signs of a page that no codepage of a receipt printer has: it would print "?" for them.
_PLAIN = str.maketrans({
    "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "...", "·": "-", "×": "x", "•": "*", "→": ">",
    "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ",
})  # fmt: skip


def printer_here(request: HttpRequest) -> TillPrinter | None:
    """The printer of this browser's till; None if it prints with the browser's window, or is not a till.

    It is read once a request; a browser that was never a till costs no query.
    """
    token: str = getattr(request, "till_token", "")
    if not hasattr(request, "till_printer"):
        printer = services.find_printer(token) if token else None
        request.till_printer = printer  # type: ignore[attr-defined]
    found: TillPrinter | None = request.till_printer  # type: ignore[attr-defined]
    return found


def reach_printer(request: HttpRequest, printer: TillPrinter) -> dict[str, Any]:
    """The facts for the page's script; the response lets the page use the browser feature that this printer needs."""
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
    """Have the next page of this print (`key`) print automatically, once: a page that is loaded again does not."""
    if printer_here(request):
        request.session[_NEXT] = key


def is_next(request: HttpRequest, key: str) -> bool:
    """Whether this page prints automatically; a later page does not."""
    is_now = bool(request.session.pop(_NEXT, "") == key)
    request.printer_once = is_now  # type: ignore[attr-defined]
    return is_now


def open_cash_drawer(request: StaffRequest, why: str, what: object, *, actor: User | None = None, **facts: str) -> None:
    """Have the next answer of this till open the drawer at its printer, if there is one, because cash was moved.

    `why`: a code of `tills.events.OPENS`; together with `what` it names the movement, which opens the drawer once.
    `actor`: the person who moved it, if somebody else is signed in by now.
    """
    printer = printer_here(request)
    if printer and printer.has_drawer:
        opening = services.ask_opening(printer, why=why, what=str(what), actor=actor or request.user, **facts)
        if opening:
            request.session[_OPENING] = opening.pk


def drawer_instruction(request: HttpRequest) -> dict[str, Any] | None:
    """The printer that has to open its drawer now; the instruction is given out once."""
    opening = request.session.pop(_OPENING, None)
    printer = printer_here(request) if opening else None
    if printer is None or not services.take_opening(opening, printer):
        return None
    request.printer_once = True  # type: ignore[attr-defined]
    return reach_printer(request, printer)


def reach_drawer(request: HttpRequest) -> bool:
    """Whether this page may receive the instruction later on; if so, let it use the printer."""
    printer = printer_here(request)
    if printer is None or not printer.has_drawer:
        return False
    reach_printer(request, printer)
    return True


def allow_printer(request: HttpRequest, response: HttpResponse) -> None:
    """Let the page use the printer, if it reaches one, by the response's headers."""
    if getattr(request, "printer_once", False):
        response.headers["Cache-Control"] = "no-store"  # it prints, or opens the drawer, once: also after "back"
    feature = getattr(request, "printer_feature", "")
    if feature in _FEATURES:
        response.headers["Permissions-Policy"] = permissions_policy(feature)


def text(words: str, *, look: Look = "", centred: bool = False) -> Line:
    """A paragraph. `look`: "tall" is bold and twice as high, "big" twice as high and wide."""
    return {"kind": "text", "text": words.translate(_PLAIN), "look": look, "centred": centred}


def pair(label: str, value: str, *, look: Look = "") -> Line:
    """A label at the left and its value at the right."""
    return {"kind": "pair", "label": label.translate(_PLAIN), "value": value.translate(_PLAIN), "look": look}


def rule() -> Line:
    """A line across the paper."""
    return {"kind": "rule"}


def cut() -> Line:
    """The end of one of several papers; after the last one the printer cuts automatically."""
    return {"kind": "cut"}


def picture(address: str) -> Line:
    """A picture of ours, such as the shop's logo, in black and white."""
    return {"kind": "picture", "address": address}
