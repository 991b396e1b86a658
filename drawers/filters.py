"""The filters of the list of shifts; they live in the URL."""

from __future__ import annotations

import django_filters
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from branches.filters import BranchFilter, InBranches
from branches.seeing import narrowed, own_branch
from core.filters import DaysFilter, SearchFilter, SinceFilter, UntilFilter
from core.numbers import sees_whole_numbers
from drawers.models import Drawer, Outcome, Payment, Shift
from drawers.models.payments import orders
from staff.models import User

# So many of a branch's refunds, the last ones, name people for the filter.
_MOST_REFUNDS = 1_000


def drawer_names() -> list[tuple[int, str]]:
    """Every drawer that the reader sees, for a list's filter."""
    return list(narrowed(Drawer.objects.all()).order_by("name").values_list("pk", "name"))


def _cashiers() -> list[tuple[int, str]]:
    return [(person.pk, person.shown_name) for person in narrowed(User.objects.all()).order_by("username")]


def _people_of_refunds() -> list[tuple[int, str]]:
    """The people whom the reader sees, and people of other branches who sold or gave back the last refunds here."""
    if (branch := own_branch()) is None:
        return _cashiers()
    last = Payment.objects.refunds().filter(branch=branch).order_by("-ended_at", "-pk")[:_MOST_REFUNDS]
    keys = {key for pair in last.values_list("seller", "given_by") for key in pair if key}
    people = User.objects.filter(Q(branch=branch) | Q(pk__in=keys)).order_by("username")
    return [(person.pk, person.shown_name) for person in people]


class RefundFilter(InBranches):
    """Refunds by order or number, person, and the day on which the order ended; the open ones first.

    `given`: the days in which the money was given back.
    """

    seldom = ("given",)

    q = SearchFilter(label=_("ref_id, number or SN"))
    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=pgettext_lazy("refund", "Refunds due"),
        choices=[("given", pgettext_lazy("refund", "Given back")), ("all", _("Every state"))],
    )
    person = django_filters.ChoiceFilter(
        method="of_person", label=_("Given back or sold by"), empty_label=_("Everybody"), choices=_people_of_refunds
    )
    branch = BranchFilter()
    given = DaysFilter(field_name="given_at", label=pgettext_lazy("refund", "Given back"))
    since = SinceFilter(field_name="ended_at", label=_("From"))
    until = UntilFilter(field_name="ended_at", label=_("To"))

    class Meta:
        model = Payment
        fields: list[str] = []

    @property
    def qs(self) -> QuerySet[Payment]:
        """The open refunds, unless another state is asked for."""
        payments: QuerySet[Payment] = super().qs
        is_valid = not self.form.errors.get("state")
        return payments if is_valid and self.form["state"].value() else payments.filter(outcome=Outcome.OWED)

    def in_state(self, payments: QuerySet[Payment], _name: str, state: str) -> QuerySet[Payment]:
        """The refunds that were given back, or all."""
        return payments.filter(outcome=Outcome.GIVEN) if state == "given" else payments

    def of_person(self, payments: QuerySet[Payment], _name: str, person: str) -> QuerySet[Payment]:
        """The refunds that this person gave back, and the open ones of orders that this person sold."""
        return payments.filter(Q(given_by=person) | Q(given_by=None, seller=person))

    def search(self, payments: QuerySet[Payment], _name: str, text: str) -> QuerySet[Payment]:
        """The payments of orders with this ref_id, number or SN."""
        matches = orders().matching(text, by_part=sees_whole_numbers())
        return payments.filter(pk__in=matches.values("payment"))


class ShiftFilter(InBranches):
    """Shifts by drawer, cashier, state and the day on which they began."""

    is_compact = True

    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=_("Every state"),
        choices=[("open", _("Open")), ("difference", _("With a difference"))],
    )
    drawer = django_filters.ChoiceFilter(label=_("Drawer"), empty_label=_("Every drawer"), choices=drawer_names)
    cashier = django_filters.ChoiceFilter(label=_("Cashier"), empty_label=_("Everybody"), choices=_cashiers)
    branch = BranchFilter(field_name="drawer__branch")
    days = DaysFilter(field_name="opened_at")
    since = SinceFilter(field_name="opened_at", label=_("From"))
    until = UntilFilter(field_name="opened_at", label=_("To"))

    def in_state(self, shifts: QuerySet[Shift], _name: str, state: str) -> QuerySet[Shift]:
        """The open shifts, or the shifts that were opened or closed with a difference."""
        if state == "open":
            return shifts.filter(closed_at=None)
        opened_otherwise = Q(left_before__isnull=False) & ~Q(opening=F("left_before"))
        return shifts.filter(opened_otherwise | Q(difference__lt=0) | Q(difference__gt=0))
