"""The filters of the list of shifts; they live in the URL."""

import datetime as dt
from typing import Any

import django_filters
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from branches.filters import BranchFilter, InBranches
from branches.seeing import narrowed, own_branch
from core.filters import DaysFilter, SearchFilter, SinceFilter, UntilFilter
from core.numbers import sees_whole_numbers
from drawers.models import Drawer, Outcome, Payment, Shift
from drawers.models.payments import orders
from staff.models import User

# Rows of so many days, and at most so many, name people of other branches for a filter.
_DAYS, _MOST_ROWS = 90, 1_000


def drawer_names() -> list[tuple[int, str]]:
    """Every drawer that the reader sees, for a list's filter."""
    return list(narrowed(Drawer.objects.all()).order_by("name").values_list("pk", "name"))


def _cashiers() -> list[tuple[int, str]]:
    """The people whom the reader sees, and people of other branches who had a shift here lately."""
    return _people(Shift.objects.order_by("-opened_at", "-pk"), "drawer__branch", "opened_at", "cashier")


def _people_of_refunds() -> list[tuple[int, str]]:
    """The people whom the reader sees, and people of other branches who sold or gave back what went back lately."""
    refunds = Payment.objects.refunds().order_by("-ended_at", "-pk")
    return _people(refunds, "branch", "ended_at", "seller", "given_by")


def _people(rows: QuerySet[Any], branch: str, time: str, *names: str) -> list[tuple[int, str]]:
    """The people whom the reader sees, and those whom these rows name. `branch`, `time`, `names`: the rows' fields."""
    people = narrowed(User.objects.all())
    if (own := own_branch()) is not None:
        lately = rows.filter(**{branch: own, f"{time}__gte": timezone.now() - dt.timedelta(days=_DAYS)})
        keys = {key for row in lately.values_list(*names)[:_MOST_ROWS] for key in row if key}
        people |= User.objects.filter(pk__in=keys)
    return [(person.pk, person.shown_name) for person in people.order_by("username")]


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
