"""The shop was restored from a backup, and nobody has opened it yet."""

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from alerts.models import Severity
from core.rights import Right
from gateway.models import UpstreamAccount


class Restored(AlertKind, permission=Right.VIEW_ORDERS, is_in_banner=True):
    """Nothing that spends is sent until a person opens the shop."""

    def reasons(self, now: Now) -> list[Reason]:
        account = now.the(UpstreamAccount)
        if not account.is_held:
            return []
        facts = {"until": account.restored_to.isoformat()} if account.restored_to else {}
        return [Reason(severity=Severity.CRITICAL, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("This shop was restored from a backup."),
            facts=_("Sales from after %(time)s may be missing. Nothing is sent to the provider: new orders wait.")
            % {"time": at(facts, "until")},
            next_step=_("An administrator looks at the page Backups, and opens the shop."),
            url=reverse("backups") if may(person, Right.CHANGE_POLICIES) else "",
        )
