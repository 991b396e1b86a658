"""Something waits for a second person for too long."""

import datetime as dt

from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from approvals.models import Approval
from approvals.services import changes_seen
from core.rights import Right
from policies.services import policies


class ApprovalWaiting(AlertKind, permission=Right.VIEW_APPROVALS, of_branch=True):
    """One alert for all requests that have waited longer than the policy says: it names the oldest, and their number.

    It counts the requests of every branch, but none that is void by now: the list of work has those, to be refused.
    """

    def reasons(self, now: Now) -> list[Reason]:
        since = now.time - dt.timedelta(minutes=policies().approval_alert_minutes)
        late = Approval.objects.open().filter(asked_at__lt=since, expires_at__gt=now.time).order_by("asked_at")
        first = list(late[:100])
        void = changes_seen(first)
        asked = [approval.asked_at for approval in first if approval.pk not in void]
        return [Reason(facts={"count": len(asked), "since": asked[0].isoformat()})] if asked else []

    def words(self, facts: Facts, person: Person) -> Words:
        count = int(facts.get("count", 1))
        title = ngettext(
            "%(n)s request has waited long for approval.", "%(n)s requests have waited long for approval.", count
        )
        return Words(
            title=title % {"n": count},
            facts=_("The oldest has waited since %(since)s.") % {"since": at(facts, "since")},
            next_step=_("Approve or refuse it.")
            if may(person, Right.APPROVE_ORDERS)
            else _("Ask somebody who may approve it."),
            url=reverse("approval_list"),
        )
