"""One person alone did a step that takes two people."""

import datetime as dt

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from audit.models import AuditEvent
from core.rights import Right

_FOR = dt.timedelta(hours=24)


class ActedAlone(AlertKind, permission=Right.VIEW_AUDIT):
    """Open for a day after the latest such step, so that everybody concerned hears of it."""

    def reasons(self, now: Now) -> list[Reason]:
        lately = AuditEvent.objects.filter(at__gt=now.time - _FOR, facts__alone=True)
        latest = lately.select_related("person").order_by("-at", "-pk").first()
        if latest is None:
            return []
        name = latest.person.shown_name if latest.person else ""
        facts = {"at": latest.at.isoformat(), "name": name}
        return [Reason(severity=Severity.WARNING, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("One person did alone a step that takes two people."),
            facts=_("%(name)s, at %(at)s.") % {"name": facts.get("name") or "–", "at": at(facts, "at")},
            next_step=_("See in the audit what it was, and talk with this person."),
            url=reverse("audit_list"),
        )
