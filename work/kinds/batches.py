"""Batches that something has stopped: a short balance, a limit, the hours, an account at its cap; or rows that wait."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from django.db.models import F, QuerySet
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from batches.models import Batch
from batches.presenting import why_stopped
from batches.states import BatchState
from core.rights import Right
from work.kinds.kind import Line, Moment, Scope, WorkKind

if TYPE_CHECKING:
    from staff.models import User


class Batches(WorkKind):
    """Paused by themselves, or with rows that wait for a person. A person's own pause waits."""

    code = "batch"
    words = _("Batches that stopped")
    step = pgettext_lazy("work", "Resume")
    look = ("table-import", "held")
    sees = (Right.VIEW_PRODUCT, Right.BUY, Right.RELEASE_BATCHES)
    does = (Right.RELEASE_BATCHES,)
    within = dt.timedelta(hours=1)
    branch = "branch"

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Those that say why."""
        states = [BatchState.PAUSED, BatchState.RUNNING]
        return Batch.objects.filter(state__in=states, stopped_by__gt="").annotate(since=F("released_at"))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """Which batch, and what has stopped it."""
        return {
            batch.pk: Line(
                subject=" · ".join(filter(None, (f"{gettext('Batch')} {batch.pk}", batch.name))),
                url=batch.get_absolute_url(),
                about=why_stopped(batch),
            )
            for batch in Batch.objects.filter(pk__in=keys)
        }
