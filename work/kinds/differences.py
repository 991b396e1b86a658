"""Differences between the books and the upstream's balance."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from core.money import signed_rupiah
from core.rights import Right
from reconciliation.models import Adjustment, Difference
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Differences(WorkKind):
    """Differences that nobody has acknowledged. A difference with a proposed adjustment waits as an approval."""

    code = "difference"
    words = _("Differences of the balance")
    counted = npgettext_lazy("work", "%(n)s difference", "%(n)s differences", "n")
    step = pgettext_lazy("work", "Explain")
    look = ("scale", "bad")
    says_none = True
    every = ("difference_list", "")
    open_query = f"?state={Difference.State.OPEN}"
    within = dt.timedelta(hours=1)  # a continuing loss grows
    sees = (Right.VIEW_DIFFERENCES,)
    does = (Right.ACKNOWLEDGE_DIFFERENCES, Right.PROPOSE_ADJUSTMENTS)

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Open differences without an open proposal."""
        proposed = Adjustment.objects.filter(decided_at=None).values("difference")
        return Difference.objects.open().exclude(pk__in=proposed).annotate(since=F("found_at"))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        return {
            difference.pk: Line(
                subject=str(difference.shown_label),
                url=reverse("difference_detail", args=[difference.pk]),
                amount=signed_rupiah(difference.amount),
            )
            for difference in Difference.objects.filter(pk__in=keys)
        }
