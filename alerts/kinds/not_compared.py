"""The books were not compared with the upstream's balance for too long."""

import datetime as dt

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from alerts.kinds import unreachable
from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Alert, Severity
from core.rights import Right
from gateway.models import UpstreamAccount
from ledger.models import Books
from reconciliation.models import ReconciliationRun

# Usually the books are compared every minute or two.
_AFTER, _CRITICAL_AFTER = dt.timedelta(minutes=15), dt.timedelta(hours=1)
# A shop that sells all day has open orders at each reading; in the night there are none.
_SELLING_AFTER, _SELLING_CRITICAL_AFTER = dt.timedelta(hours=12), dt.timedelta(hours=24)
_NAMED = 3


class NotCompared(AlertKind, permission=Right.VIEW_DIFFERENCES):
    """A warning unless another alert names the reason; critical after an hour in every case.

    While a run is made every minute and only open orders keep it provisional, it warns after 12 hours, critical after
    24.
    """

    def reasons(self, now: Now) -> list[Reason]:
        since = now.compared_at or now.the(Books).opened_at
        if since is None or now.time - since < _AFTER:
            return []
        account = now.the(UpstreamAccount)
        silent_since = account.unreachable_since
        # While only the balance request fails, the orders' answers end each fault: that is no reason.
        is_silent = silent_since is not None and now.time - silent_since >= unreachable.AFTER
        is_away = account.refused_since is not None or is_silent
        if not is_away and account.last_answer_at and now.time - account.last_answer_at > _AFTER:
            return []  # nobody has asked: we have only just started, or a process is silent, which has its own alert
        facts: Facts = {"since": since.isoformat()}
        run = now.the(ReconciliationRun)
        if run.blocking and now.time - run.at <= _AFTER:
            if now.time - since < _SELLING_AFTER:
                return []
            is_critical = now.time - since >= _SELLING_CRITICAL_AFTER
            facts |= {"count": len(run.blocking), "orders": run.blocking[:_NAMED]}
        else:
            is_critical = now.time - since >= _CRITICAL_AFTER
        if not is_critical and (is_away or _was_away(now.time)):
            return []
        severity = Severity.CRITICAL if is_critical else Severity.WARNING
        return [Reason(severity=severity, facts=facts)]

    def words(self, facts: Facts, person: Person) -> Words:
        count, orders = facts.get("count", 0), ", ".join(facts.get("orders", []))
        waits_for = ngettext(
            "%(count)s open order keeps the newer ones provisional: %(orders)s.",
            "%(count)s open orders keep the newer ones provisional, among them %(orders)s.",
            count,
        ) % {"count": count, "orders": orders}
        return Words(
            title=_("The books were not compared with the provider's balance since %(since)s.")
            % {"since": at(facts, "since")},
            facts=(waits_for + " " if count else "")
            + _("Until the next final comparison missing money may go unnoticed."),
            next_step=_("See what these orders wait for.")
            if count
            else _("See the last comparisons. If none is made, ask the person who runs the server."),
            url=reverse("balance"),
        )


def _was_away(now: dt.datetime) -> bool:
    """Whether the upstream was away until a short time ago, so that no comparison can be expected yet."""
    away = Alert.objects.filter(kind__in=["account_refused", "unreachable"])
    return away.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=now - _AFTER)).exists()
