"""Follow a check in the foreground, as the commands do, with or without workers beside."""

from __future__ import annotations

import time

from bills.models import BillCheck
from bills.services.inquiring import inquire
from bills.states import AnswerKind
from core import clock
from upstream.budget import CallClass

_READ_EVERY_SECONDS = 0.25


def follow_check(check: BillCheck, *, seconds: float) -> BillCheck:
    """Wait up to `seconds` for the biller's answer, inquiring when it is due; return the check as it is then."""
    until = time.monotonic() + seconds
    check.refresh_from_db()
    while check.answer == AnswerKind.NONE and time.monotonic() < until:
        time.sleep(min(_READ_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        check.refresh_from_db()
        if check.answer == AnswerKind.NONE and check.next_poll_at and check.next_poll_at <= clock.now():
            inquire(check.pk, call_class=CallClass.INTERACTIVE)
            check.refresh_from_db()
    return check
