"""Differences between the books and the upstream's balance."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from core.money import signed_rupiah
from core.rights import Right
from reconciliation.models import Adjustment, Difference
from reconciliation.services.decisions import ADJUSTMENT
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

    def is_none(self) -> bool:
        """Whether none is open, also none that waits for its adjustment to be approved."""
        return not Difference.objects.open().exists()

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Open differences without an open proposal; a late refund waits for that of the missing one."""
        proposed = Adjustment.objects.filter(decided_at=None).values("difference")
        undecided = Difference.objects.open().exclude(pk__in=proposed).exclude(makes_good__state=Difference.State.OPEN)
        return undecided.annotate(since=F("found_at"))

    def for_person(self, moment: Moment, scope: Scope) -> Any:
        """Money that was added, for people who acknowledge it; missing money, for people who propose adjustments."""
        if scope.acknowledges == (ADJUSTMENT in scope.asks):  # both, or none
            return super().for_person(moment, scope)
        own = Q(amount__gt=0) if scope.acknowledges else Q(amount__lt=0)
        return ExpressionWrapper(own, output_field=BooleanField())

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        return {
            difference.pk: Line(
                subject=str(difference.shown_label),
                url=reverse("difference_detail", args=[difference.pk]),
                amount=signed_rupiah(difference.amount),
                does=(Right.ACKNOWLEDGE_DIFFERENCES if difference.amount > 0 else Right.PROPOSE_ADJUSTMENTS,),
            )
            for difference in Difference.objects.filter(pk__in=keys)
        }
