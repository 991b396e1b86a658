"""The filters of the list of bills due; they live in the URL."""

import django_filters
from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from branches.filters import BranchFilter, InBranches
from branches.seeing import narrowed
from core.filters import SearchFilter
from core.numbers import sees_whole_numbers
from customers.models import SavedNumber, SavedNumberQuerySet
from dues.models import ASKS, OWES, DueBill, DueBillQuerySet, DueState, FollowedNumber, FollowedNumberQuerySet

_UNDER_WAY = (DueState.PAYING, DueState.ASKING)
_ENDED = (DueState.PAID, DueState.NOTHING, DueState.STOPPED)
#: A state of followed numbers without a bill, which are rows of their own.
WAITING = "waiting"
_OPEN = (DueState.ASKING, DueState.PAYING, *OWES, DueState.GONE)


class DueFilter(InBranches):
    """Bills due by customer or number, by state, and by branch; without a state, those that have not ended."""

    q = SearchFilter(label=_("Name or number"))
    state = django_filters.ChoiceFilter(
        method="in_state",
        label=_("State"),
        empty_label=pgettext_lazy("bill", "Not ended"),
        choices=[
            ("owed", _("To be paid")),
            ("asks", _("Asks a person")),
            *((state.value, state.label) for state in _UNDER_WAY),
            (WAITING, _("Not checked yet")),
            *((state.value, state.label) for state in _ENDED),
        ],
    )

    branch = BranchFilter(field_name="home")
    bill = django_filters.NumberFilter(field_name="pk", widget=forms.HiddenInput)

    class Meta:
        model = DueBill
        fields: list[str] = []

    @property
    def qs(self) -> DueBillQuerySet:
        """The open bills, unless an ended state is asked for."""
        bills: DueBillQuerySet = super().qs
        return bills if self._state in _ENDED else bills.open().standing_at(*_OPEN)

    @property
    def waiting(self) -> FollowedNumberQuerySet | None:
        """The followed numbers that were not checked yet, shown instead of bills if the filter asks for them."""
        if self._state != WAITING:
            return None
        rows = waiting_seen()
        if branch := self.form.cleaned_data.get("branch", ""):
            rows = rows.filter(home=branch)  # type: ignore[misc] # annotated
        text = self.form.cleaned_data.get("q", "")
        return rows.filter(number__in=_numbers(text).values("pk")) if text else rows

    @property
    def _state(self) -> str:
        return "" if self.form.errors.get("state") else str(self.form["state"].value() or "")

    def search(self, bills: DueBillQuerySet, _name: str, text: str) -> DueBillQuerySet:
        """All bills of numbers that `text` may mean."""
        return bills.filter(number__in=_numbers(text).values("pk"))

    def in_state(self, bills: DueBillQuerySet, _name: str, state: str) -> DueBillQuerySet:
        """The bills in this state now."""
        if state in _ENDED:
            return bills.filter(outcome=state)
        if state == WAITING:
            return bills.none()
        groups = {"owed": OWES, "asks": ASKS, **{state.value: (state,) for state in _UNDER_WAY}}
        return bills.standing_at(*groups[state])


def bills_seen(*, with_shop: bool = True) -> DueBillQuerySet:
    """The bills that the reader sees, with their `home`; `with_shop`: also those of no branch."""
    return narrowed(DueBill.objects.with_branch(), "home", with_shop=with_shop)


def waiting_seen() -> FollowedNumberQuerySet:
    """The followed numbers without a bill of this month that the reader sees."""
    return narrowed(FollowedNumber.objects.waiting(timezone.localdate()).with_branch(), "home", with_shop=True)


def _numbers(text: str) -> SavedNumberQuerySet:
    return SavedNumber.objects.matching(text, by_part=sees_whole_numbers())
