"""Top-ups that were announced and have not arrived."""

from collections.abc import Collection
from typing import Any

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from core.money import rupiah
from core.numbers import note_as_seen
from core.rights import Right
from reconciliation.models import ExpectedTopUp
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class TopUps(WorkKind):
    """Money that somebody has sent to the upstream and that has not arrived."""

    code = "topup"
    words = _("Announced top-ups")
    counted = npgettext_lazy("work", "%(n)s top-up", "%(n)s top-ups", "n")
    step = pgettext_lazy("work", "Check")
    look = ("cash", "pending")
    sees = (Right.VIEW_BOOKS, Right.VIEW_COST, Right.VIEW_DIFFERENCES)
    does = (Right.ACKNOWLEDGE_DIFFERENCES,)

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Top-ups that did not arrive and were not withdrawn; also expired ones, which somebody has to withdraw."""
        return ExpectedTopUp.objects.filter(difference__isnull=True, cancelled_at__isnull=True).annotate(
            since=F("announced_at")
        )

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        topups = ExpectedTopUp.objects.filter(pk__in=keys).select_related("announced_by")
        return {
            topup.pk: Line(
                subject=note_as_seen(topup.note) or topup.announced_by.shown_name,
                url=f"{reverse('balance')}#expected",
                amount=rupiah(topup.amount),
            )
            for topup in topups
        }
