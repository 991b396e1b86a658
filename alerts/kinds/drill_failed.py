"""The last drill of a restore failed, or none was made for too long: nobody knows whether the backups are good."""

import datetime as dt

from django.conf import settings
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from core.kept_backups import last_drill
from core.rights import Right

# The launcher drills each month, and tries again each day.
_LATE = dt.timedelta(days=35)


class DrillFailed(AlertKind, permission=Right.CHANGE_POLICIES):
    """The backup's folder, its disk or the copied log is not good enough to restore the shop."""

    def reasons(self, now: Now) -> list[Reason]:
        drill = last_drill()
        if drill is None or not settings.BACKUP_TO:
            return []
        facts = {"at": drill.at.isoformat()}
        if drill.fault:
            return [Reason(key="failed", severity=Severity.CRITICAL, facts=facts | {"fault": drill.fault})]
        return [Reason(key="late", facts=facts)] if now.time - drill.at > _LATE else []

    def words(self, facts: Facts, person: Person) -> Words:
        if "fault" in facts:
            return Words(
                title=_("The drill of a restore failed."),
                facts=_("At %(at)s: %(fault)s") % {"at": at(facts, "at"), "fault": facts["fault"]},
                next_step=_("Have the person who runs the server correct that, make a backup, and call ./run drill."),
            )
        return Words(
            title=_("No restore was tried for more than a month."),
            facts=_("The last drill was at %(at)s.") % {"at": at(facts, "at")},
            next_step=_("Have the person who runs the server call ./run drill."),
        )
