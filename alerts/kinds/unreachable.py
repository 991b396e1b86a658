"""The upstream cannot be reached."""

import datetime as dt

from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from core.rights import Right
from gateway.models import UpstreamAccount

# In a shorter time a single request may have failed.
AFTER = dt.timedelta(minutes=2)


class Unreachable(AlertKind, permission=Right.VIEW_ORDERS, is_in_banner=True):
    """It has answered nothing of use for two minutes."""

    def reasons(self, now: Now) -> list[Reason]:
        since = now.the(UpstreamAccount).unreachable_since
        if since is None or now.time - since < AFTER:
            return []
        return [Reason(severity=Severity.CRITICAL, facts={"since": since.isoformat()})]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("The provider cannot be reached."),
            facts=_("No usable answer since %(since)s; new orders wait or have no known outcome.")
            % {"since": at(facts, "since")},
            next_step=_("Check the shop's network. If it works, ask the provider."),
        )
