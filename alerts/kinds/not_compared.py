"""The books were not compared with the upstream's balance for too long."""

import datetime as dt

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Alert, Severity
from core.rights import Right
from gateway.models import UpstreamAccount
from ledger.models import Books

# Ordinarily the books are compared every minute or two.
_AFTER, _CRITICAL_AFTER = dt.timedelta(minutes=15), dt.timedelta(hours=1)


class NotCompared(AlertKind, permission=Right.VIEW_DIFFERENCES):
    """A warning unless another alert names the reason; critical after an hour in every case."""

    def reasons(self, now: Now) -> list[Reason]:
        since = now.compared_at or now.the(Books).opened_at
        if since is None or now.time - since < _AFTER:
            return []
        account = now.the(UpstreamAccount)
        is_away = account.refused_since is not None or account.unreachable_since is not None
        if not is_away and account.last_answer_at and now.time - account.last_answer_at > _AFTER:
            return []  # nobody has asked: we have only just started, or a process is silent, which has its own alert
        is_critical = now.time - since >= _CRITICAL_AFTER
        if not is_critical and (is_away or _was_away(now.time)):
            return []
        severity = Severity.CRITICAL if is_critical else Severity.WARNING
        return [Reason(severity=severity, facts={"since": since.isoformat()})]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("The books were not compared with the provider's balance for 15 minutes or more."),
            facts=_(
                "Last final comparison: %(since)s. Orders that are still open keep a newer one provisional; "
                "until then missing money may go unnoticed."
            )
            % {"since": at(facts, "since")},
            next_step=_(
                "See what the comparison waits for. If it waits for nothing, ask the person who runs the server."
            ),
            url=reverse("balance"),
        )


def _was_away(now: dt.datetime) -> bool:
    """Whether the upstream came back so lately that a comparison could not be expected yet."""
    away = Alert.objects.filter(kind__in=["account_refused", "unreachable"])
    return away.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=now - _AFTER)).exists()
