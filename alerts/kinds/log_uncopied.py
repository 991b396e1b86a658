"""The copy of the database's log stands still, lags or has lost a part, on the disk of backups or in the bucket."""

import datetime as dt

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from alerts.models import Severity
from core.kept_backups import BACKUP_SENT, copied_until, in_bucket, is_backed_up_here, started_at
from core.rights import Right

# At most 60 s may be lost. After two minutes more the copy does not come back by itself.
_LAGS_FOR = dt.timedelta(minutes=3)


class LogUncopied(AlertKind, permission=Right.CHANGE_POLICIES):
    """Measured by the launcher every few seconds. After a start it has the same time to go on."""

    def reasons(self, now: Now) -> list[Reason]:
        if not settings.BACKUP_TO or not is_backed_up_here():
            return []
        reasons = []
        until, bucket = copied_until(), in_bucket()
        has_had_time = now.time - started_at() > _LAGS_FOR
        if until is not None and now.time - until > _LAGS_FOR and has_had_time:
            reasons.append(Reason(severity=Severity.CRITICAL, facts={"until": until.isoformat()}))
        if bucket and bucket.is_late and (bucket.until or bucket.fault) and has_had_time:
            facts: Facts = {"until": bucket.until.isoformat() if bucket.until else "", "fault": bucket.fault}
            reasons.append(Reason(key="bucket", severity=Severity.WARNING, facts=facts))
        if bucket and bucket.newest and bucket.lacks_backup and now.time - started_at() > BACKUP_SENT:
            facts = {"newest": bucket.newest.isoformat(), "fault": bucket.fault}
            reasons.append(Reason(key="bucket_backup", facts=facts))
        if bucket and bucket.lost:
            facts = {"at": bucket.compared_at.isoformat() if bucket.compared_at else "", "names": bucket.names}
            reasons.append(Reason(key="bucket_lost", facts=facts | {"lost": bucket.lost}))
        return reasons

    def words(self, facts: Facts, person: Person) -> Words:
        url = reverse("backups") if may(person, Right.CHANGE_POLICIES) else ""
        if "lost" in facts:
            return Words(
                title=_("The bucket does not hold all that was copied to it."),
                facts=_("At %(at)s %(lost)s files were gone or changed: %(names)s")
                % {"at": at(facts, "at"), "lost": facts["lost"], "names": facts["names"]},
                next_step=_("Have the person who runs the server look at who may delete and change files there."),
                url=url,
            )
        if "newest" in facts:
            begun = _("It was begun at %(at)s.") % {"at": at(facts, "newest")}
            return Words(
                title=_("The newest backup is not in the bucket."),
                facts=" ".join(filter(None, [begun, str(facts["fault"])])),
                next_step=_("Have the person who runs the server look at ./run status and at logs/bucket-copies.log."),
                url=url,
            )
        if "fault" in facts:
            seen = _("Those since %(at)s are on the disk of backups alone.") % {"at": at(facts, "until")}
            return Words(
                title=_("Sales are not copied to the bucket."),
                facts=" ".join(filter(None, [seen if facts["until"] else "", str(facts["fault"])])),
                next_step=_("Have the person who runs the server look at ./run status and at logs/bucket-copies.log."),
                url=url,
            )
        return Words(
            title=_("Sales are not copied to where the backups go."),
            facts=_("Those since %(at)s would be lost with this disk.") % {"at": at(facts, "until")},
            next_step=_("Have the person who runs the server look at ./run status and at the disk of BACKUP_TO."),
            url=url,
        )
