"""The journal of what is sent lacks a line, or is not copied to the backups."""

import datetime as dt

from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from core.rights import Right
from gateway.models import UpstreamAccount
from gateway.services.account import UNWRITTEN_FOR
from purchases.services import uncopied_since

_COPIED_WITHIN = dt.timedelta(minutes=1)


class SentUnwritten(AlertKind, permission=Right.VIEW_ORDERS):
    """Selling goes on; if the disk fails, the orders of that time are lost."""

    def reasons(self, now: Now) -> list[Reason]:
        unwritten_at, uncopied = now.the(UpstreamAccount).unwritten_at, uncopied_since(before=now.time - _COPIED_WITHIN)
        reasons = []
        if unwritten_at and now.time - unwritten_at < UNWRITTEN_FOR:
            reasons.append(Reason(key="written", severity=Severity.WARNING, facts={"at": unwritten_at.isoformat()}))
        if uncopied:
            reasons.append(Reason(key="copied", severity=Severity.WARNING, facts={"since": uncopied.isoformat()}))
        return reasons

    def words(self, facts: Facts, person: Person) -> Words:
        if "since" in facts:
            return Words(
                title=_("The journal of what is sent is not copied to the backups."),
                facts=_("The lines since %(since)s wait. If this disk is lost, so are their orders.")
                % {"since": at(facts, "since")},
                next_step=_("Have the person who runs the server look at the folder of backups (BACKUP_TO)."),
            )
        return Words(
            title=_("An order was sent without a line in the journal of what is sent."),
            facts=_("Last at %(at)s. Selling goes on, but a backup would not find this order again.")
            % {"at": at(facts, "at")},
            next_step=_("Have the person who runs the server look at the disk of the data folder."),
        )
