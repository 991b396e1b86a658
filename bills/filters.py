"""The filters of the list of checks; they live in the URL."""

import django_filters
from django.utils.translation import gettext_lazy as _

from bills.models import BillCheck, BillCheckQuerySet
from bills.states import BillState
from branches.filters import BranchFilter, InBranches
from core.filters import DaysFilter, SearchFilter, SinceFilter, UntilFilter
from core.numbers import sees_whole_numbers


class BillFilter(InBranches):
    """Search by ref_id, customer number or customer name; narrow by state, branch and the day on which it was checked.

    Only a paid bill belongs to a branch.
    """

    is_compact = True

    q = SearchFilter(label=_("ref_id, number or name"))
    state = django_filters.ChoiceFilter(
        method="in_state", label=_("Status"), empty_label=_("Every status"), choices=BillState.choices
    )
    branch = BranchFilter(field_name="order__payment__branch")
    days = DaysFilter(field_name="created_at")
    since = SinceFilter(field_name="created_at", label=_("From"))
    until = UntilFilter(field_name="created_at", label=_("To"))

    class Meta:
        model = BillCheck
        fields: list[str] = []

    def search(self, checks: BillCheckQuerySet, _name: str, text: str) -> BillCheckQuerySet:
        """By the beginning of the ref_id, the beginning or end of the customer number, or words of the name."""
        return checks.matching(text, by_part=sees_whole_numbers())

    def in_state(self, checks: BillCheckQuerySet, _name: str, state: str) -> BillCheckQuerySet:
        """The checks in this `BillState`."""
        return checks.in_state(state)
