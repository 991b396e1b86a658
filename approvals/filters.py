"""The filters of the list of approvals; they live in the URL."""

import django_filters
from django.utils.translation import gettext_lazy as _

from approvals.acts import all_acts
from approvals.models import ApprovalState
from branches.filters import BranchFilter, InBranches
from core.filters import SinceFilter, UntilFilter


def _acts() -> list[tuple[str, object]]:
    return [(name, act.label) for name, act in all_acts().items()]


class ApprovalFilter(InBranches):
    """Approvals by state, act, branch and day."""

    state = django_filters.ChoiceFilter(label=_("State"), empty_label=_("Every state"), choices=ApprovalState.choices)
    act = django_filters.ChoiceFilter(label=_("What"), empty_label=_("Everything"), choices=_acts)
    branch = BranchFilter()
    since = SinceFilter(field_name="asked_at", label=_("From"))
    until = UntilFilter(field_name="asked_at", label=_("To"))
