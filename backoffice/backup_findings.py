"""The findings about backups, and about a shop that was restored from one (`doctor.py`)."""

import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from backoffice.findings import Finding, Verdict
from core.kept_backups import (
    LATE,
    MOST_AT_RISK,
    InBucket,
    first_backup_since,
    folder_answers,
    has_copied_log,
    in_bucket,
    is_backed_up_here,
    kept_backups,
    last_backup,
    last_bucket_drill,
    seconds_at_risk,
    unreadable_backups,
)
from core.times import clock
from gateway.services import upstream_account

_LATE_HOURS = LATE.total_seconds() / 3600
# The highest age of the last drill from the bucket. A person has to bring the key, so we do not ask for it often.
_BUCKET_DRILL = dt.timedelta(days=100)


def backups(subject: str) -> Iterator[Finding]:
    """The finding about the age of the newest backup: ours in BACKUP_TO, that of a stamp, or one by hand."""
    if settings.BACKUP_TO and is_backed_up_here():
        yield _backup_of_ours(subject)
        return
    if not settings.BACKUP_STAMP:
        yield _backup_by_hand(subject)
        return
    stamp = Path(settings.BACKUP_STAMP)
    hours = (time.time() - stamp.stat().st_mtime) / 3600 if stamp.exists() else None
    if hours is None:
        seen = _("no backup has been made yet: %(path)s is missing") % {"path": stamp}
    else:
        seen = _("the last one is %(hours)s hours old") % {"hours": round(hours)}
    if hours is None or hours > _LATE_HOURS:
        yield Finding(subject, Verdict.BAD, seen, _("Make one now, and look at why it failed."))
    else:
        yield Finding(subject, Verdict.OK, seen)


def _backup_by_hand(subject: str) -> Finding:
    """The finding about the newest backup by hand, for a shop without automatic backups."""
    advice = _("None is made by itself: name a folder in BACKUP_TO, or in BACKUP_STAMP what a backup of yours touches.")
    if settings.BACKUP_TO:
        advice = _("DATABASE_URL names a PostgreSQL of your own: name in BACKUP_STAMP what its own backup touches.")
    by_hand = last_backup()
    if by_hand is None:
        return Finding(subject, Verdict.LOOK, _("nothing says when the last one was made"), advice)
    hours = round((timezone.now() - by_hand["at"]).total_seconds() / 3600)
    seen = _("the last one is %(hours)s hours old, made by hand in %(path)s") % {
        "hours": hours,
        "path": by_hand["folder"],
    }
    return Finding(subject, Verdict.LOOK, seen, advice)


def _backup_of_ours(subject: str) -> Finding:
    """The finding about the newest backup in BACKUP_TO: its age, and how much of the last work is not copied there."""
    if since := first_backup_since():
        return _first_backup(subject, since)
    # one with a later time was made while the machine's clock was wrong, and says nothing about last night
    newest = next((backup["at"] for backup in kept_backups() if backup["at"] <= timezone.now()), None)
    advice = _("Make one now, and look at why it failed.")
    if newest is None and not folder_answers():
        seen, is_late = _("the folder %(path)s does not answer") % {"path": settings.BACKUP_TO}, True
        advice = _("Look at `./run status` and at the disk of BACKUP_TO.")
    elif newest is None:
        seen, is_late = _("no backup has been made yet: %(path)s is missing") % {"path": settings.BACKUP_TO}, True
    else:
        hours = (timezone.now() - newest).total_seconds() / 3600
        seen, is_late = _("the last one is %(hours)s hours old") % {"hours": round(hours)}, hours > _LATE_HOURS
    if is_late:
        return Finding(subject, Verdict.BAD, seen, advice)
    if lack := _missing():
        return Finding(subject, Verdict.BAD, seen + lack, _("Look at the disk of BACKUP_TO, and make a backup now."))
    at_risk = seconds_at_risk()
    if at_risk is None:
        return Finding(subject, Verdict.BAD, seen, _("Sales since then are not copied: look at the disk of BACKUP_TO."))
    seen += _("; the last %(seconds)s s would be lost with this disk") % {"seconds": at_risk}
    if at_risk > MOST_AT_RISK:
        return Finding(subject, Verdict.BAD, seen, _("Look at `./run status` and at the disk of BACKUP_TO."))
    return _in_bucket(subject, seen, bucket) if (bucket := in_bucket()) else Finding(subject, Verdict.OK, seen)


def _first_backup(subject: str, since: dt.datetime) -> Finding:
    """The finding while a new or restored shop makes its first backup."""
    seen = _("the first backup of this shop has been under way since %(time)s") % {"time": clock(since)}
    if restored_at := upstream_account().restored_at:
        words = _("restored at %(restored)s; the first backup since then began at %(time)s")
        seen = words % {"restored": clock(restored_at), "time": clock(since)}
    return Finding(subject, Verdict.LOOK, seen, _("Look again in some minutes: until then sales are not copied."))


def _missing() -> str:
    """The missing or damaged parts in BACKUP_TO, in words; "" for none."""
    if not has_copied_log():
        return _("; the copied log beside it (wal/) is missing: it can be restored to its own moment alone")
    if unreadable := unreadable_backups():
        return _("; the manifest of %(names)s is damaged or missing: delete that folder") % {
            "names": ", ".join(unreadable)
        }
    return ""


def _in_bucket(subject: str, seen: str, bucket: InBucket) -> Finding:
    """The finding when the backups here are good and are copied to a bucket as well."""
    if bucket.is_late:
        seen += _("; the bucket has not got the last work") + (f": {bucket.fault}" if bucket.fault else "")
        return Finding(subject, Verdict.BAD, seen, _("Look at `./run status` and at logs/bucket-copies.log."))
    if bucket.lacks_backup:
        seen += _("; the newest backup is not in the bucket") + (f": {bucket.fault}" if bucket.fault else "")
        return Finding(subject, Verdict.BAD, seen, _("Look at `./run status` and at logs/bucket-copies.log."))
    if bucket.lost:
        seen += _("; the bucket does not hold all that was copied to it: %(names)s") % {"names": bucket.names}
        return Finding(subject, Verdict.BAD, seen, _("Look at who may delete and change files there."))
    if _is_unproved():
        seen += _("; nobody has restored from the bucket in the last %(days)s days") % {"days": _BUCKET_DRILL.days}
        return Finding(subject, Verdict.LOOK, seen, _("Call ./run drill --from s3://… --key FILE, here or elsewhere."))
    return Finding(subject, Verdict.OK, seen)


def _is_unproved() -> bool:
    """Whether no recent drill has proved that somebody can restore from the bucket."""
    drill = last_bucket_drill()
    return drill is None or bool(drill.fault) or timezone.now() - drill.at > _BUCKET_DRILL


def restored(subject: str) -> Iterator[Finding]:
    """A finding after a restore, until somebody opens the shop; else nothing."""
    if upstream_account().is_held:
        seen = _("this shop was restored from a backup: it sells nothing until somebody opens it")
        yield Finding(subject, Verdict.LOOK, seen, _("An administrator looks at the page Backups, and opens the shop."))
