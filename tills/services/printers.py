"""How a till prints: with the browser's window, or directly."""

from __future__ import annotations

from typing import Any

import structlog
from django.db import transaction
from django.forms.models import model_to_dict

from audit.events import SETTING_CHANGED
from audit.services import record
from staff.models import User
from tills.models import Till, TillPrinter
from tills.services.enrolling import digest_of

log = structlog.get_logger()


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
