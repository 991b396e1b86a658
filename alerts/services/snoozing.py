"""A person hides one alert for a while, from their own pages alone; nobody else's pages and no message change."""

import datetime as dt
from typing import NamedTuple

from django.db import models, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from alerts.events import ALERT_SHOWN_AGAIN, ALERT_SNOOZED
from alerts.kinds import KINDS
from alerts.models import Alert, AlertSnooze
from audit.services import record
from core import clock
from core.times import start_of_day
from core.together import Given
from staff.models import User

# No alert is hidden for longer than this.
LONGEST = dt.timedelta(days=1, hours=1)


class Pause(models.TextChoices):
    """For how long an alert is hidden."""

    QUARTER = "15m", _("15 minutes")
    HOUR = "1h", _("1 hour")
    TOMORROW = "tomorrow", _("until tomorrow")

    def end(self, now: dt.datetime) -> dt.datetime:
        """The time of its end: tomorrow begins at midnight in the shop."""
        match self:
            case Pause.QUARTER:
                return now + dt.timedelta(minutes=15)
            case Pause.HOUR:
                return now + dt.timedelta(hours=1)
            case _:
                return start_of_day(timezone.localdate(now) + dt.timedelta(days=1))


class Hidden(NamedTuple):
    """One person's last choice about one alert: until when it is hidden, and its severity then."""

    alert: int
    until: dt.datetime
    severity: int
    grade: int

    def covers(self, alert: Alert, now: dt.datetime) -> bool:
        """Whether the alert is hidden now. An alert that has become worse is not."""
        return self.until > now and alert.severity >= self.severity and grade_of(alert) <= self.grade


def grade_of(alert: Alert) -> int:
    """The rank of the alert within its severity, as its kind sees it; higher is worse."""
    kind = KINDS.get(alert.kind)
    return kind.grade(alert.facts) if kind else 0


def snooze(alert: Alert, *, pause: Pause, person: User) -> None:
    """Hide the open alert from this person's pages; it is shown again at the end, or once it is worse."""
    now = clock.now()
    _keep(alert, until=pause.end(now), now=now, person=person)


def show_again(alert: Alert, *, person: User) -> None:
    """Show a hidden alert on this person's pages again."""
    now = clock.now()
    _keep(alert, until=now, now=now, person=person)


def _keep(alert: Alert, *, until: dt.datetime, now: dt.datetime, person: User) -> None:
    kind = ALERT_SNOOZED if until > now else ALERT_SHOWN_AGAIN
    with transaction.atomic():
        AlertSnooze.objects.create(
            alert=alert, person_id=person.pk, at=now, until=until, severity=alert.severity, grade=grade_of(alert)
        )
        record(kind, actor=person, subject=str(alert), facts={"until": until.isoformat()})


def snoozes_question(person: Given, since: Given) -> QuerySet[AlertSnooze, tuple[int, dt.datetime, int, int]]:
    """The person's last choice about each alert, as the fields of `Hidden`. `since`: `LONGEST` ago."""
    lately = AlertSnooze.objects.filter(person=person, at__gt=since)
    last = lately.order_by("alert", "-pk").distinct("alert")
    return last.values_list("alert", "until", "severity", "grade")
