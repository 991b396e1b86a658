"""Payments of the last days are missing from the bank's statements, although the statements have these days."""

import datetime as dt

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, may
from bank.models import BankFile
from bank.services.items import open_sums
from bank.services.reach import days_read, reached_days
from core.money import rupiah
from core.rights import Right
from core.times import day_words

_DAYS = 7


class BankMissing(AlertKind, permission=Right.VIEW_STATEMENT):
    """One alert for all payments of the last seven days that are over. Nothing is read before the first statement."""

    def reasons(self, now: Now) -> list[Reason]:
        return _missing(timezone.localdate(now.time)) if now.the(BankFile).pk else []

    def words(self, facts: Facts, person: Person) -> Words:
        first, last = facts.get("first", ""), facts.get("last", "")
        days = f"?since={first}&until={last}&show=missing#bank-part" if first else ""
        return Words(
            title=_("Payments are missing at the bank: %(amount)s.") % {"amount": rupiah(facts.get("amount", 0))},
            facts=_("Some payments since %(day)s are in no row of the statements.")
            % {"day": day_words(first) if first else "–"},
            next_step=_("Ask the bank or the customer, or match them with their rows by hand.")
            if may(person, Right.MATCH_BANK)
            else _("See which; an admin matches them or asks the bank."),
            url=f"{reverse('bank')}{days}",
        )


def _missing(today: dt.date) -> list[Reason]:
    first, last = today - dt.timedelta(days=_DAYS), today - dt.timedelta(days=1)
    reached = reached_days(days_read(until_over=True), first, last)
    if not reached:
        return []
    opened, _others = open_sums(first, last, reached)
    missing = [day for day in opened if day.is_reached and day.came]
    if not missing:
        return []
    days = sorted(day.day.isoformat() for day in missing)
    return [Reason(facts={"amount": sum(day.came for day in missing), "first": days[0], "last": days[-1]})]
