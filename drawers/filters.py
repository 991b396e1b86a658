"""The filters of the list of shifts; they live in the URL."""

from __future__ import annotations

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from core.filters import ListFilter, SinceFilter, UntilFilter
from drawers.models import Drawer, Refund, Shift
from purchases.filters import OfOrderFilter
from staff.models import User


def _drawers() -> list[tuple[int, str]]:
    return list(Drawer.objects.order_by("name").values_list("pk", "name"))


def _cashiers() -> list[tuple[int, str]]:
    return [(person.pk, person.shown_name) for person in User.objects.order_by("username")]


class RefundFilter(OfOrderFilter):
    """Money for customers by order or number, and by the day on which the order ended; what is to be given first."""

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=pgettext_lazy("refund", "To give back"),
        choices=[("given", pgettext_lazy("refund", "Given back")), ("all", _("Every state"))],
    )
    since = SinceFilter(field_name="since", label=_("From"))
    until = UntilFilter(field_name="since", label=_("To"))

    class Meta:
        model = Refund
        fields: list[str] = []

    @property
    def qs(self) -> QuerySet[Refund]:
        """What is to be given back, unless another state is asked for."""
        found: QuerySet[Refund] = super().qs
        is_valid = not self.form.errors.get("state")
        return found if is_valid and self.form["state"].value() else found.filter(given_at=None)

    def in_state(self, refunds: QuerySet[Refund], _name: str, state: str) -> QuerySet[Refund]:
        """Those that were given back, or all."""
        return refunds.filter(given_at__isnull=False) if state == "given" else refunds


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
