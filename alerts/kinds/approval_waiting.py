"""Something waits for a second person for too long."""

import datetime as dt

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from approvals.models import Approval
from core.rights import Right
from policies.services import policies


class ApprovalWaiting(AlertKind, permission=Right.VIEW_APPROVALS):
    """One for all that have waited for longer than the setting says: the oldest, and how many."""

    def reasons(self, now: Now) -> list[Reason]:
        since = now.time - dt.timedelta(minutes=policies().approval_alert_minutes)
        late = Approval.objects.open().filter(asked_at__lt=since, expires_at__gt=now.time).order_by("asked_at")
        asked = list(late.values_list("asked_at", flat=True)[:100])
        return [Reason(facts={"count": len(asked), "since": asked[0].isoformat()})] if asked else []

    def words(self, facts: Facts, person: Person) -> Words:
        count = int(facts.get("count", 1))
        title = ngettext("%(n)s request waits for approval.", "%(n)s requests wait for approval.", count)
        return Words(
            title=title % {"n": count},
            facts=_("The oldest has waited since %(since)s.") % {"since": at(facts, "since")},
            next_step=_("Approve or refuse it.")
            if may(person, Right.APPROVE_ORDERS)
            else _("Ask somebody who may approve it."),
            url=reverse("approval_list"),
        )
