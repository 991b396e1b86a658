"""The orders that were taken in after a restore, for the page "Backups": each with its outcome, and their sums."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Case, CharField, Count, F, Max, Q, QuerySet, Sum, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext_lazy as _

from core import clock
from purchases.models import LostOrder
from purchases.states import ActionReason, Status

# The time after a restore in which they are shown; by its end somebody has added what they lack.
_SHOWN_FOR = dt.timedelta(days=30)
_SHOWN = 200
_GROUPS = {
    "charged": (_("Charged"), Q(order__status__in=[Status.PENDING, Status.SUCCESS])),
    "asked": (_("Not known yet"), Q(order__status__in=[Status.UNKNOWN, Status.SENDING, Status.QUEUED])),
    "not_charged": (
        _("Not charged"),
        Q(order__action_reason=ActionReason.NEVER_ARRIVED) | Q(order__isnull=False, order__final_at__isnull=False),
    ),
    "waits": (_("Not taken in yet"), Q(order__isnull=True)),
}


@dataclass(frozen=True)
class Group:
    """The orders with one outcome, counted. `cost`: whole rupiah that were charged, or would be at most."""

    code: str
    words: Any
    count: int
    cost: int


def lost_orders() -> QuerySet[LostOrder]:
    """The orders of the last restore, the newest first."""
    since = clock.now() - _SHOWN_FOR
    last = LostOrder.objects.filter(found_at__gte=since).aggregate(last=Max("found_at"))["last"]
    return LostOrder.objects.filter(found_at=last).select_related("order__product", "order__payment").order_by("-pk")


def shown_lost() -> dict[str, Any]:
    """For the page: the rows with their `outcome` and `cost`, and the sums by outcome; empty without any."""
    rows = lost_orders()
    shown = list(rows.annotate(outcome=_outcome(), cost=_cost())[:_SHOWN])
    return {"lost": shown, "lost_groups": _groups(rows)} if shown else {}


def waiting() -> Group | None:
    """The orders of the journal that are not taken in yet; None when all are."""
    return next(iter(_groups(LostOrder.objects.filter(order=None))), None)


def _outcome() -> Case:
    """The code of an order's group."""
    whens = [When(condition, then=Value(code)) for code, (_words, condition) in _GROUPS.items()]
    return Case(*whens, default=Value("asked"), output_field=CharField())


def _cost() -> Coalesce:
    """An order's price in whole rupiah; until the price is known, the highest possible one."""
    return Coalesce(F("order__price"), F("order__max_price"), Cast(KT("line__max_price"), BigIntegerField()))


def _groups(rows: QuerySet[LostOrder]) -> list[Group]:
    grouped = rows.order_by().values(group=_outcome())
    sums = {row["group"]: row for row in grouped.annotate(count=Count("pk"), cost=Sum(_cost()))}
    return [
        Group(code, words, sums[code]["count"], sums[code]["cost"])
        for code, (words, _condition) in _GROUPS.items()
        if code in sums
    ]
