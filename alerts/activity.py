"""Shows alerts in the activity log."""

import datetime as dt
from contextlib import suppress

from django.db.models import QuerySet
from django.utils.translation import pgettext_lazy

from alerts.kinds import KINDS
from alerts.models import Alert, ResultMessage
from audit.facts import Fact, name_facts
from audit.subjects import ANY, About, Place, Seen, register
from core.rights import Right
from core.times import clock


class _Alerts(Place):
    """Alerts by kind and key."""

    def rows(self, keys: set[str]) -> QuerySet[Alert]:
        """The alerts with these keys, the latest of each key last."""
        kinds, _spaces, names = zip(*(key.partition(" ") for key in keys), strict=True)
        return Alert.objects.filter(kind__in=set(kinds), key__in=set(names)).order_by("opened_at")

    def key_of(self, row: Alert) -> str:
        return str(row)

    def about(self, key: str, seen: Seen) -> About:
        """The title, as the reader would see it."""
        alert = seen.rows.get(key)
        if alert is None or alert.kind not in KINDS:
            return About(key, is_code=True)
        return About(KINDS[alert.kind].words(alert.facts, seen.reader).title, self.url(seen.reader))


def _moment(value: str) -> str:
    with suppress(ValueError):
        return clock(dt.datetime.fromisoformat(value))
    return value


name_facts(
    until=Fact(pgettext_lazy("audit", "Until"), _moment),
    evening=Fact(ResultMessage.Span.EVENING.label),
    weekly=Fact(ResultMessage.Span.WEEKLY.label),
)
register(Place("alert_way", "%(number)s", "alert_ways", Right.VIEW_ALERTS, Right.CHANGE_POLICIES, keys=ANY))
register(_Alerts("alert", "", "alert_list", Right.VIEW_ALERTS, keys=ANY))
