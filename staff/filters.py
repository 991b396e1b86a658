"""The search of the list of people; it lives in the URL."""

import django_filters
from allauth.mfa.models import Authenticator
from django.utils.translation import gettext_lazy as _

from branches.filters import BranchFilter, InBranches
from core.filters import SearchFilter
from core.rights import Role
from staff.models import StaffQuerySet


class StaffFilter(InBranches):
    """People by a part of the name, by role and by branch."""

    q = SearchFilter(label=_("Name"))
    role = django_filters.ChoiceFilter(
        label=_("Role"), empty_label=_("Every role"), choices=Role.choices, method="with_role"
    )

    factor = django_filters.ChoiceFilter(
        label=_("Second factor"),
        empty_label=_("With and without"),
        choices=[("none", _("Without")), ("some", _("With"))],
        method="with_factor",
    )

    branch = BranchFilter()

    def with_factor(self, people: StaffQuerySet, _name: str, which: str) -> StaffQuerySet:
        """People with a factor, or without one; a person with only recovery codes has no factor."""
        holders = Authenticator.objects.exclude(type=Authenticator.Type.RECOVERY_CODES).values("user")
        return people.filter(pk__in=holders) if which == "some" else people.exclude(pk__in=holders)

    def search(self, people: StaffQuerySet, _name: str, text: str) -> StaffQuerySet:
        """All people whom `text` may mean."""
        return people.matching(text)

    def with_role(self, people: StaffQuerySet, _name: str, role: str) -> StaffQuerySet:
        return people.filter(is_superuser=True) if role == Role.OWNER else people.filter(groups__name=role)
