"""The filters of the lists of comparisons and differences; they live in the URL."""

import django_filters
from django.utils.translation import gettext_lazy as _

from core.filters import DaysFilter, ListFilter, SinceFilter, UntilFilter
from reconciliation.models import Difference, ReconciliationRun


class RunFilter(ListFilter):
    """Comparisons by state and day."""

    state = django_filters.ChoiceFilter(
        label=_("Status"), empty_label=_("Every status"), choices=ReconciliationRun.Result.choices
    )
    since = SinceFilter(field_name="at", label=_("From"))
    until = UntilFilter(field_name="at", label=_("To"))


class DifferenceFilter(ListFilter):
    """Differences by state, kind and day."""

    is_compact = True

    state = django_filters.ChoiceFilter(
        label=_("Status"), empty_label=_("Every status"), choices=Difference.State.choices
    )
    label = django_filters.ChoiceFilter(label=_("Kind"), empty_label=_("Every kind"), choices=Difference.Label.choices)
    days = DaysFilter(field_name="found_at")
    since = SinceFilter(field_name="found_at", label=_("From"))
    until = UntilFilter(field_name="found_at", label=_("To"))

    @property
    def is_open_only(self) -> bool:
        """Whether the filter asks for all open differences, of every kind and day, and for nothing else."""
        values = {name: self.form[name].value() for name in self.form.fields if name != "columns"}
        return {name: value for name, value in values.items() if value} == {"state": Difference.State.OPEN}
