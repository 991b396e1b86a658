"""The books do not add up: somebody changed rows in the database itself."""

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from alerts.models import Severity
from core.money import rupiah
from core.rights import Right
from ledger.models import Flaw, Proof


class BooksOff(AlertKind, permission=Right.VIEW_DIFFERENCES):
    """The last proof found a flaw."""

    def reasons(self, now: Now) -> list[Reason]:
        proof = now.the(Proof)
        if not proof.flaw:
            return []
        facts = {"amount": proof.flaw_amount, "flaw": proof.flaw, "entry": proof.flaw_entry}
        return [Reason(severity=Severity.CRITICAL, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        parts = [f"{Flaw(facts['flaw']).label}."] if facts.get("flaw") in Flaw.values else []
        if facts.get("entry"):
            parts.append(_("The first wrong entry: %(id)s.") % {"id": facts["entry"]})
        return Words(
            title=_("The books are wrong by %(amount)s.") % {"amount": rupiah(abs(facts.get("amount", 0)))},
            facts=" ".join([*parts, _("Somebody changed rows in the database itself.")]),
            next_step=_("Change nothing in the database. Have the person who runs the server examine it."),
            url=reverse("balance"),
        )
