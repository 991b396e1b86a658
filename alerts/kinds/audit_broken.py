"""An audited row differs from what was sealed, or a live row from its newest copy."""

from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from alerts.models import Severity
from audit.models import Sealing
from core.rights import Right


class AuditBroken(AlertKind, permission=Right.VIEW_DIFFERENCES):
    """The last verification found a flaw."""

    def reasons(self, now: Now) -> list[Reason]:
        flaw = now.the(Sealing).flaw
        return [Reason(severity=Severity.CRITICAL, facts=flaw)] if flaw else []

    def words(self, facts: Facts, person: Person) -> Words:
        where = " ".join(str(facts[name]) for name in ("reason", "table", "id", "detail") if facts.get(name))
        return Words(
            title=_("The audit is broken."),
            facts=_("A row is not as it was recorded (%(where)s).") % {"where": where},
            next_step=_("Change nothing in the database. Have the person who runs the server examine it."),
        )
