"""One of our own processes gives no heartbeat."""

from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from alerts.models import Severity
from core import health
from core.rights import Right


class ProcessSilent(AlertKind, permission=Right.VIEW_ORDERS):
    """One for each process."""

    def reasons(self, now: Now) -> list[Reason]:
        return [
            Reason(key=name, severity=Severity.CRITICAL, facts={"process": name}) for name in health.silent_processes()
        ]

    def words(self, facts: Facts, person: Person) -> Words:
        name = str(facts.get("process", "?"))
        means = {
            "worker": _("New orders wait; the sweep sends them later."),
            "background": _("Open orders are not polled, and the balance is not read."),
            "beat": _("Nothing runs by itself: no polling, no balance, no comparison."),
            "redis": _("Orders are stored, and wait until it is back."),
        }
        return Words(
            title=_("No heartbeat from %(name)s.") % {"name": name},
            facts=means.get(name, ""),
            next_step=_("Have the person who runs the server read its log and start it again."),
        )
