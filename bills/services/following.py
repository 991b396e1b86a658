"""Follow a check in the foreground, as the commands do, with or without workers beside."""

from __future__ import annotations

import time

from django.utils import timezone

from bills.models import Answer, BillCheck
from bills.services.checking import ask
from upstream.budget import CallClass

_LOOK_EVERY_SECONDS = 0.25


def follow_check(check: BillCheck, *, seconds: float) -> BillCheck:
    """Wait up to `seconds` for the biller's answer, asking when it is time; return the check as it is then."""
    until = time.monotonic() + seconds
    check.refresh_from_db()
    while check.answer == Answer.NONE and time.monotonic() < until:
        time.sleep(min(_LOOK_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        check.refresh_from_db()
        if check.answer == Answer.NONE and check.next_ask_at and check.next_ask_at <= timezone.now():
            ask(check.pk, call_class=CallClass.INTERACTIVE)
            check.refresh_from_db()
    return check
