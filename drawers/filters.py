"""The filters of the list of shifts; they live in the URL."""

from __future__ import annotations

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from core.filters import ListFilter, SinceFilter, UntilFilter
from drawers.models import Drawer, Shift
from staff.models import User


def _drawers() -> list[tuple[int, str]]:
    return list(Drawer.objects.order_by("name").values_list("pk", "name"))


def _cashiers() -> list[tuple[int, str]]:
    return [(person.pk, person.shown_name) for person in User.objects.order_by("username")]


class ShiftFilter(ListFilter):
    """Shifts by drawer, cashier, state and the day on which they began."""

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=_("Every state"),
        choices=[("open", _("Open")), ("difference", _("With a difference"))],
    )
    drawer = django_filters.ChoiceFilter(label=_("Drawer"), empty_label=_("Every drawer"), choices=_drawers)
    cashier = django_filters.ChoiceFilter(label=_("Cashier"), empty_label=_("Everybody"), choices=_cashiers)
    since = SinceFilter(field_name="opened_at", label=_("From"))
    until = UntilFilter(field_name="opened_at", label=_("To"))

    def in_state(self, shifts: QuerySet[Shift], _name: str, state: str) -> QuerySet[Shift]:
        """Open ones, or those that were closed with a difference."""
        return (
            shifts.filter(closed_at=None)
            if state == "open"
            else shifts.filter(difference__isnull=False).exclude(difference=0)
        )
