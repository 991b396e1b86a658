"""Delete exchanges that nobody needs any more, a few at a time."""

from __future__ import annotations

import datetime as dt

from django.db import connection
from django.db.models import Q

from gateway.models import Exchange
from upstream.endpoints import Endpoint

# One statement deletes so many: its locks and its log stay small.
BATCH = 2_000


def forget_exchanges(*, before: dt.datetime, from_no: int, needed: Q) -> int:
    """Delete what was sent before this moment and this number, except what `needed` finds; returns how many.

    Balances that were read stay. Each endpoint is gone through once, in the order of time, by its index.
    """
    return sum(_forget(endpoint, before, from_no, needed) for endpoint in Endpoint)


def _forget(endpoint: Endpoint, before: dt.datetime, from_no: int, needed: Q) -> int:
    exchanges = Exchange.objects.past(before, from_no).filter(endpoint=endpoint).order_by("sent_at")
    if endpoint is Endpoint.BALANCE:
        exchanges = exchanges.errors()  # the others stay, and are many
    after, forgotten = dt.datetime.min.replace(tzinfo=dt.UTC), 0
    # Exchanges that are needed stay: the next batch begins behind them.
    while rows := list(exchanges.filter(sent_at__gt=after).values_list("pk", "sent_at")[:BATCH]):
        after = rows[-1][1]
        old = Exchange.objects.filter(~needed, pk__in=[pk for pk, _at in rows])
        forgotten += old._raw_delete(connection.alias)  # nothing refers to them
    return forgotten
