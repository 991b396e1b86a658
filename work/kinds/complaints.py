"""Complaints of customers."""

from collections.abc import Collection
from typing import Any

from django.db.models import F, QuerySet
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from complaints.models import Complaint
from core.rights import Right
from purchases.presenting import shown_destination
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Complaints(WorkKind):
    """Open complaints; each has a due time of its own."""

    code = "complaint"
    words = _("Complaints")
    one = _("Complaint")
    counted = npgettext_lazy("work", "%(n)s complaint", "%(n)s complaints", "n")
    step = pgettext_lazy("work", "Answer")
    look = ("message-report", "held")
    sees = (Right.VIEW_ORDERS, Right.VIEW_COMPLAINTS)
    does = (Right.HANDLE_COMPLAINTS,)
    branch = "order__payment__branch"
    every = ("complaint_list", "?state=all")

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        return Complaint.objects.open().annotate(since=F("opened_at"))

    def due(self) -> Any:
        return F("due_at")

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        complaints = Complaint.objects.filter(pk__in=keys).select_related("order__product")
        return {
            complaint.pk: Line(
                subject=complaint.order.product_name,
                url=complaint.get_absolute_url(),
                number=shown_destination(complaint.order),
            )
            for complaint in complaints
        }
