"""A receipt for the printer of a till: the same lines that the page of the print shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from purchases.receipt_lines import Facts, Lines, Part, Serial
from shop.models import Paper
from tills.printing import Line, Look, cut, is_next, pair, picture, print_job, printer_here, rule, text

if TYPE_CHECKING:
    from core.access import StaffRequest
    from purchases.payment_receipts import PaymentPaper
    from purchases.receipts import ReceiptPaper

_LOOKS: dict[str, Look] = {"total": "tall", "sum": "tall"}


def direct_job(request: StaffRequest, sheets: Sequence[ReceiptPaper], key: str) -> dict[str, Any] | None:
    """The job that the page of these papers sends to the till's printer; None if the browser's own window prints them.

    It prints automatically once, right after the print was made (`tills.printing.print_next`).
    """
    job = job_of(request, sheets)
    return job and {**job, "now": is_next(request, key)}


def job_of(request: StaffRequest, sheets: Sequence[ReceiptPaper | PaymentPaper]) -> dict[str, Any] | None:
    """The papers for the till's printer, which prints them when somebody presses the button; None as in `direct_job`.

    A receipt printer has no A5 paper.
    """
    printer = printer_here(request)
    if printer is None or sheets[0].paper == Paper.A5:
        return None
    lines = printer_lines(sheets[0].lines)
    for sheet in sheets[1:]:
        lines += [cut(), *printer_lines(sheet.lines)]
    return print_job(request, printer, lines)


def printer_lines(lines: Lines) -> list[Line]:
    """All lines of the paper, from the logo to the shop's foot."""
    return list(_all(lines))


def _all(lines: Lines) -> Iterator[Line]:
    if lines.logo:
        yield picture(lines.logo)
    yield text(lines.shop, look="tall", centred=True)
    yield from (text(line, centred=True) for line in lines.head)
    if lines.test:
        yield text(lines.test.text, look="bold", centred=True)
    for part in lines.parts:
        yield from _part(part)
    for facts in lines.sums:
        yield from _facts(facts)
    yield rule()
    below = (lines.cashier, lines.printed.text if lines.printed else "")
    yield from (text(line, centred=True) for line in (*filter(None, below), *lines.foot))


def _part(part: Part) -> Iterator[Line]:
    yield from (text(mark.text, look="tall", centred=True) for mark in part.marks)
    for facts in part.facts:
        yield from _facts(facts)
    if part.serial:
        yield from _serial(part.serial)


def _facts(facts: Facts) -> Iterator[Line]:
    yield rule()
    yield from (pair(label, value, look=_LOOKS.get(facts.code, "")) for label, value in facts.rows)


def _serial(serial: Serial) -> Iterator[Line]:
    yield rule()
    yield text(serial.label, centred=True)
    number = " ".join(serial.groups)
    yield text(number, look="big", centred=True) if number else text(serial.text, look="bold", centred=True)
    below = (serial.rest, serial.by_hand.text if serial.by_hand else "")
    yield from (text(line, centred=True) for line in below if line)
