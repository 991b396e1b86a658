"""The filters of the list of complaints; they live in the URL."""

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from branches.filters import BranchFilter, InBranches
from complaints.models import Complaint, State
from core.filters import DaysFilter, SinceFilter, UntilFilter
from purchases.filters import OfOrderFilter

_ALL = "all"


class ComplaintFilter(OfOrderFilter, InBranches):
    """Complaints by order or number, state, branch and the day of opening; without a state those not closed."""

    is_compact = True

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=pgettext_lazy("complaint", "Not closed"),
        choices=[*State.choices, (_ALL, _("Every state"))],
    )
    branch = BranchFilter(field_name="order__payment__branch")
    days = DaysFilter(field_name="opened_at")
    since = SinceFilter(field_name="opened_at", label=_("From"))
    until = UntilFilter(field_name="opened_at", label=_("To"))

    class Meta:
        model = Complaint
        fields: list[str] = []

    @property
    def is_by_due(self) -> bool:
        """Whether the list shows only open complaints, sorted by due time."""
        return self._state not in {State.CLOSED, _ALL}

    @property
    def qs(self) -> QuerySet[Complaint]:
        """The open complaints, unless another state is asked for."""
        complaints: QuerySet[Complaint] = super().qs
        return complaints.exclude(state=State.CLOSED) if self.is_by_due else complaints

    @property
    def _state(self) -> str:
        return "" if self.form.errors.get("state") else str(self.form["state"].value() or "")

    def in_state(self, complaints: QuerySet[Complaint], _name: str, state: str) -> QuerySet[Complaint]:
        """The complaints in this state, or all."""
        return complaints if state == _ALL else complaints.filter(state=state)
