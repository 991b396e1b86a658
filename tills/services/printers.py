"""Sets how a till prints: with the browser's window, or directly; and opens the cash drawer at its printer."""

import datetime as dt
from typing import Any

import structlog
from django.db import transaction
from django.forms.models import model_to_dict

from audit.events import SETTING_CHANGED
from audit.services import record
from core import clock
from staff.models import User
from tills.events import CASH_DRAWER_OPENED
from tills.models import DrawerOpening, Till, TillPrinter
from tills.services.enrolling import digest_of

log = structlog.get_logger()
# A page of the till has to come within this time: later nobody may be at the drawer that opens.
_GOOD_FOR = dt.timedelta(minutes=1)


def find_printer(token: str) -> TillPrinter | None:
    """The printer of the till whose browser has this token in its cookie; None without a direct one."""
    printers = TillPrinter.objects.select_related("till")
    return printers.filter(till__digest=digest_of(token), till__switched_off_at=None).first()


def set_printer(till: Till, facts: dict[str, Any] | None, *, actor: User) -> None:
    """Have the till print directly, with these values of `TillPrinter`; None: with the browser's window again."""
    with transaction.atomic():
        current = Till.objects.select_for_update().get(pk=till.pk)
        printer = TillPrinter.objects.filter(till=current).first()
        before, after = _facts_of(printer), {"printer": "browser"}
        if facts is None:
            TillPrinter.objects.filter(till=current).delete()
        else:
            printer, _made = TillPrinter.objects.update_or_create(till=current, defaults=facts)
            after = _facts_of(printer)
        if before == after:
            return
        record(SETTING_CHANGED, actor=actor, subject=f"till {current.pk}", before=before, after=after)
    log.info("till_printer_changed", till=till.pk)


def _facts_of(printer: TillPrinter | None) -> dict[str, Any]:
    if printer is None:
        return {"printer": "browser"}
    facts = model_to_dict(printer, exclude=["till"])
    return {"printer": facts.pop("way"), **facts}


def ask_opening(printer: TillPrinter, *, why: str, what: str, actor: User, **facts: str) -> DrawerOpening | None:
    """Note that the drawer has to open; None if that was noted for the same movement before.

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
    """Whether this instruction is for this till, still fresh, and not given out before."""
    now = clock.now()
    waiting = DrawerOpening.objects.filter(pk=pk, till=printer.till_id, taken_at=None, asked_at__gt=now - _GOOD_FOR)
    return waiting.update(taken_at=now) == 1
