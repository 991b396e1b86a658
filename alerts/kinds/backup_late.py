"""The backup of the night failed or is missing."""

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from alerts.models import Alert, Severity
from core.kept_backups import FIRST_BACKUP, LATE, failed_backup, is_backed_up_here, last_backup, started_at
from core.rights import Right


class BackupLate(AlertKind, permission=Right.CHANGE_POLICIES):
    """A failed backup is tried again every ten minutes; a late one has failed for a whole night, or never began.

    A shop that was off for days makes its backup at the start: it is late only when that has had its time.
    Only the data folder is read: a network disk that does not answer would hold up every alert.
    """

    def reasons(self, now: Now) -> list[Reason]:
        if not settings.BACKUP_TO or not is_backed_up_here():
            return []
        reasons = []
        if failed := failed_backup():
            reasons.append(Reason(key="failed", facts={"at": failed[0].isoformat(), "fault": failed[1]}))
        newest = last_backup()
        if newest and now.time - newest["at"] > LATE and (self._is_open() or now.time - started_at() > FIRST_BACKUP):
            reasons.append(Reason(key="late", severity=Severity.CRITICAL, facts={"newest": newest["at"].isoformat()}))
        return reasons

    def _is_open(self) -> bool:
        """Whether people know already that it is late: a start alone makes it no better."""
        return Alert.objects.open().filter(kind=self.code, key="late").exists()

    def words(self, facts: Facts, person: Person) -> Words:
        url = reverse("backups") if may(person, Right.CHANGE_POLICIES) else ""
        if "newest" in facts:
            return Words(
                title=_("The backup of the night is late."),
                facts=_("The last one is from %(at)s.") % {"at": at(facts, "newest")},
                next_step=_("Have the person who runs the server call ./run backup, and look at why it failed."),
                url=url,
            )
        return Words(
            title=_("A backup failed."),
            facts=_("At %(at)s: %(fault)s") % {"at": at(facts, "at"), "fault": facts.get("fault", "")},
            next_step=_("Have the person who runs the server correct that; it is tried again every 10 minutes."),
            url=url,
        )
