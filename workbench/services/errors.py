"""Errors in groups: our requests by error, callbacks by their fault.

No query reads a whole table, for any number of exchanges: one step in the index of errors finds each group, the ends of
that index its first and last error, and the count has a bound.
"""

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone

from callbacks.models import CallbackRefusalCount, CallbackState
from core.times import start_of_day
from purchases.models import Incident, OrderEvent

# The most errors of a group that are counted, and the most of the last day in its trend.
MOST_COUNTED, _MOST_IN_TREND = 1_000, 10_000
MOST_GROUPS = 200
HOURS = 24

_GROUP = "FROM gateway_exchange e WHERE e.error > '' AND e.endpoint = g.endpoint AND e.error = g.error"
_EXCHANGES = f"""
    WITH RECURSIVE found AS (
        (SELECT endpoint, error FROM gateway_exchange WHERE error > '' ORDER BY endpoint, error LIMIT 1)
        UNION ALL
        SELECT later.endpoint, later.error FROM found f CROSS JOIN LATERAL (
            SELECT e.endpoint, e.error FROM gateway_exchange e
            WHERE e.error > '' AND (e.endpoint, e.error) > (f.endpoint, f.error) ORDER BY 1, 2 LIMIT 1
        ) later
    )
    SELECT g.endpoint, g.error, counted.n, first.sent_at, last.sent_at, last.id, trend.hours
    FROM (SELECT * FROM found LIMIT %(groups)s) g
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT 1 {_GROUP} LIMIT %(most)s + 1) few) counted
    CROSS JOIN LATERAL (SELECT e.sent_at {_GROUP} ORDER BY e.sent_at LIMIT 1) first
    CROSS JOIN LATERAL (SELECT e.sent_at, e.id {_GROUP} ORDER BY e.sent_at DESC, e.id DESC LIMIT 1) last
    CROSS JOIN LATERAL (
        SELECT jsonb_object_agg(hour, n) AS hours FROM (
            SELECT floor(extract(epoch FROM %(now)s - sent_at) / 3600)::int AS hour, count(*) AS n FROM (
                SELECT e.sent_at {_GROUP} AND e.sent_at > %(now)s - interval '24 hours'
                ORDER BY e.sent_at DESC LIMIT %(most_in_trend)s
            ) lately GROUP BY 1
        ) hourly
    ) trend
    ORDER BY last.sent_at DESC
"""  # noqa: S608 - our own text
# The state is in the text: PostgreSQL uses a partial index only for a query that names the index's condition.
_CALLBACKS = """
    SELECT '{error}', counted.n, first.received_at, last.received_at, last.id, trend.hours
    FROM (
        SELECT count(*) AS n FROM (SELECT 1 FROM callbacks_callback WHERE {rows} LIMIT %(most)s + 1) few
    ) counted
    CROSS JOIN LATERAL (
        SELECT received_at FROM callbacks_callback WHERE {rows} ORDER BY received_at, id LIMIT 1
    ) first
    CROSS JOIN LATERAL (
        SELECT received_at, id FROM callbacks_callback
        WHERE {rows} ORDER BY received_at DESC, id DESC LIMIT 1
    ) last
    CROSS JOIN LATERAL (
        SELECT jsonb_object_agg(hour, n) AS hours FROM (
            SELECT floor(extract(epoch FROM %(now)s - received_at) / 3600)::int AS hour, count(*) AS n FROM (
                SELECT received_at FROM callbacks_callback
                WHERE {rows} AND received_at > %(now)s - interval '24 hours'
                ORDER BY received_at DESC LIMIT %(most_in_trend)s
            ) lately GROUP BY 1
        ) hourly
    ) trend
"""
_UNUSABLE = " UNION ALL ".join(
    _CALLBACKS.format(error=error, rows=rows)
    for error, rows in {
        CallbackState.UNMATCHED.value: f"state = '{CallbackState.UNMATCHED.value}'",
        CallbackState.MALFORMED.value: f"state = '{CallbackState.MALFORMED.value}'",
        "fault": f"state = '{CallbackState.RECEIVED.value}' AND tries > 0",
    }.items()
)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Errors of one kind. `count` is `MOST_COUNTED + 1` for more than that; `last_pk` is the key of the newest error.

    `trend`: the count of each of the last 24 hours, oldest first; empty if it is not known.
    """

    about: str
    error: str
    count: int
    first: dt.datetime
    last: dt.datetime
    last_pk: int | str = ""
    trend: list[int] = field(default_factory=list)

    @property
    def pk(self) -> str:
        """The name of its row on the page."""
        return f"{self.about}-{self.error}".replace(" ", "").replace(":", "-")


def exchange_errors() -> list[Group]:
    """The groups of our requests that ended without a good answer, by endpoint and error, newest first."""
    return [
        Group(about=endpoint, error=error, count=n, first=first, last=last, last_pk=pk, trend=_trend(hours))
        for endpoint, error, n, first, last, pk, hours in _ask(_EXCHANGES, groups=MOST_GROUPS)
    ]


def callback_errors() -> list[Group]:
    """The groups of callbacks without effect, callbacks that contradicted known facts, and rejected ones."""
    return [*_unusable(), *_contradicting(), *_rejected()]


def _unusable() -> Iterator[Group]:
    for error, n, first, last, pk, hours in _ask(_UNUSABLE):
        yield Group(about="callback", error=error, count=n, first=first, last=last, last_pk=pk, trend=_trend(hours))


def _contradicting() -> Iterator[Group]:
    """The incidents that callbacks caused, by kind. There are few."""
    incidents = Incident.objects.filter(source=OrderEvent.Source.CALLBACK).order_by()
    groups = list(incidents.values("kind").annotate(n=Count("pk"), first=Min("at"), last=Max("at"), newest=Max("pk")))
    orders = dict(
        Incident.objects.filter(pk__in=[group["newest"] for group in groups]).values_list("pk", "order__ref_id")
    )
    for group in groups:
        yield Group(
            about="incident",
            error=group["kind"],
            count=group["n"],
            first=group["first"],
            last=group["last"],
            last_pk=orders[group["newest"]],
        )


def _rejected() -> Iterator[Group]:
    """Callbacks that were rejected before processing, by reason; only their days are kept."""
    counted = CallbackRefusalCount.objects.values("reason").order_by()
    for group in counted.annotate(n=Sum("count"), first=Min("day"), last=Max("day")).filter(~Q(n=0)):
        yield Group(
            about="refusal",
            error=group["reason"],
            count=group["n"],
            first=start_of_day(group["first"]),
            last=start_of_day(group["last"]),
        )


def _ask(question: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        most = {"most": MOST_COUNTED, "most_in_trend": _MOST_IN_TREND}
        cursor.execute(question, {"now": timezone.now(), **most, **values})
        return list(cursor.fetchall())


def _trend(hours: Any) -> list[int]:
    """The counts of each hour, oldest first, from "how many hours ago" → count; JSON keeps the hours as text."""
    counts = hours if isinstance(hours, dict) else json.loads(hours or "{}")
    return [int(counts.get(str(hour), 0)) for hour in reversed(range(HOURS))]
