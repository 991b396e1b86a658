"""The filters of the alerts' list; they live in the URL."""

import django_filters
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from alerts.models import AlertQuerySet
from branches.filters import BranchFilter, InBranches
from core.filters import SinceFilter, UntilFilter

OPEN, OVER = "open", "over"


class AlertFilter(InBranches):
    """Alerts by state, branch and day. Most kinds are about the whole shop, and belong to no branch."""

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("Status"),
        empty_label=_("Every status"),
        choices=[(OPEN, _("Open")), (OVER, pgettext_lazy("alert", "Over"))],
    )
    branch = BranchFilter(method="of_branch")
    since = SinceFilter(field_name="opened_at", label=_("From"))
    until = UntilFilter(field_name="opened_at", label=_("To"))

    def in_state(self, alerts: AlertQuerySet, _name: str, state: str) -> AlertQuerySet:
        """The alerts that still hold, or those that have ended."""
        return alerts.filter(closed_at__isnull=state == OPEN)

    def of_branch(self, alerts: AlertQuerySet, _name: str, branch: str) -> AlertQuerySet:
        """The alerts whose facts name this branch."""
        return alerts.filter(facts__branch=int(branch))
