"""Incidents: reports of the upstream about an order that should never come."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import F, QuerySet
from django.utils.translation import gettext_lazy as _, npgettext_lazy, pgettext_lazy

from core.rights import Right
from purchases.models import Incident
from purchases.presenting import shown_destination
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


class Incidents(WorkKind):
    """Open incidents; a person looks into them and writes the finding."""

    code = "incident"
    words = _("Incidents")
    one = _("Incident")
    counted = npgettext_lazy("work", "%(n)s incident", "%(n)s incidents", "n")
    step = pgettext_lazy("work", "Look into it")
    look = ("alert-triangle", "warn")
    sees = (Right.VIEW_ORDERS,)
    does = (Right.RESOLVE_ORDERS,)
    branch = "order__payment__branch"
    within = dt.timedelta(hours=1)  # a customer may have paid for nothing
    says_none = True

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        return Incident.objects.filter(closed_at__isnull=True).annotate(since=F("at"))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        incidents = Incident.objects.filter(pk__in=keys).select_related("order__product")
        return {
            incident.pk: Line(
                subject=str(incident.get_kind_display()),
                url=f"{incident.order.get_absolute_url()}#incidents",
                about=incident.order.product_name,
                number=shown_destination(incident.order),
            )
            for incident in incidents
        }
