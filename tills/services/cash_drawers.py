"""The cash drawer at a till's printer: opened once for each movement of cash, as an audit event."""

from __future__ import annotations

import datetime as dt

import structlog
from django.db import transaction

from audit.services import record
from core import clock
from staff.models import User
from tills.events import CASH_DRAWER_OPENED
from tills.models import DrawerOpening, TillPrinter

# So long a page of the till may take to come; after it nobody waits at an open drawer.
_GOOD_FOR = dt.timedelta(minutes=1)

log = structlog.get_logger()


def ask_opening(printer: TillPrinter, *, why: str, what: str, actor: User, **facts: str) -> DrawerOpening | None:
    """Note that the drawer is to open; None if it was asked for the same movement before.

    `why`: a code of `tills.events.OPENS`; `what`: the movement, such as a ref_id.
    """
    with transaction.atomic():
        now = clock.now()
        opening, is_new = DrawerOpening.objects.get_or_create(
            cause=f"{why} {what}", defaults={"till": printer.till, "asked_at": now}
        )
        if not is_new:
            return None
        facts = {"reason": why, **facts}
        record(CASH_DRAWER_OPENED, actor=actor, subject=printer.till.name, facts={"till": printer.till_id, **facts})
    log.info("cash_drawer_asked", till=printer.till_id, why=why)
    return opening


def take_opening(pk: int, printer: TillPrinter) -> bool:
    """Whether this instruction is for this till, fresh, and given out now for the first time."""
    now = clock.now()
    waiting = DrawerOpening.objects.filter(pk=pk, till=printer.till_id, taken_at=None, asked_at__gt=now - _GOOD_FOR)
    return waiting.update(taken_at=now) == 1
