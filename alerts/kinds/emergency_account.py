"""Somebody signed in with the sealed emergency account."""

import datetime as dt

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from audit.models import AuditEvent
from core.rights import Right
from staff.events import BREAK_GLASS_USED

_FOR = dt.timedelta(hours=24)


class EmergencyAccount(AlertKind, permission=Right.MANAGE_STAFF):
    """Open for a day after its latest use, so that everybody concerned hears of it."""

    def reasons(self, now: Now) -> list[Reason]:
        latest = AuditEvent.objects.filter(kind=BREAK_GLASS_USED.key).order_by("-at", "-pk").first()
        if latest is None or latest.at <= now.time - _FOR:
            return []
        facts = {"at": latest.at.isoformat(), "address": latest.address}
        return [Reason(severity=Severity.CRITICAL, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("The emergency account was used."),
            facts=_("At %(at)s, from %(address)s.") % {"at": at(facts, "at"), "address": facts.get("address") or "–"},
            next_step=_("Find out who opened the envelope. Then seal a new one: ./run manage make_break_glass"),
            url=reverse("staff_list"),
        )
