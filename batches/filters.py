"""The filters of batches and of their rows; they live in the URL."""

from typing import Any

import django_filters
from django import forms
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from batches.models import GROUPS, Batch, BatchRow, BatchRowQuerySet
from batches.presenting import GROUP_WORDS, visible_batches
from batches.states import Fault
from branches.filters import BranchFilter, InBranches
from catalogue.destinations import spellings
from core.filters import KeyFilter, SearchFilter
from core.notation import has_digits
from core.numbers import sees_whole_numbers
from staff.models import User


class BatchFilter(InBranches):
    """Batches by branch."""

    branch = BranchFilter()

    class Meta:
        model = Batch
        fields: list[str] = []


class BatchRowFilter(InBranches):
    """The rows of the batches that `person` sees, by line. The rows of one batch are not narrowed by branch."""

    q = SearchFilter(label=_("Number, name or reference"))
    group = django_filters.ChoiceFilter(
        method="in_group",
        label=_("State"),
        empty_label=pgettext_lazy("row", "Any"),
        choices=list(GROUP_WORDS.items()),
    )
    fault = django_filters.ChoiceFilter(label=_("Fault"), empty_label=_("Any"), choices=Fault.choices)
    branch = BranchFilter(field_name="batch__branch")
    batch = KeyFilter(field_name="batch", label=_("Batch"), widget=forms.HiddenInput)

    class Meta:
        model = BatchRow
        fields: list[str] = []

    def __init__(self, query: QueryDict, *, person: User, **more: Any) -> None:
        rows = BatchRow.objects.filter(batch__in=visible_batches(person)).order_by("-batch", "line")
        super().__init__(query, queryset=rows, **more)
        if query.get("batch"):
            self.form.fields.pop("branch", None)

    def in_group(self, rows: BatchRowQuerySet, _name: str, group: str) -> BatchRowQuerySet:
        """The rows of this group of results."""
        return rows.filter(GROUPS[group])

    def search(self, rows: BatchRowQuerySet, _name: str, text: str) -> BatchRowQuerySet:
        """The rows whose number begins with the text, or whose name or reference contains it.

        Name and reference may hold a number: for people who may not see it, digits match only the whole text. The row
        of an erased customer is found only by its whole reference, unless that is the number.
        """
        sees_whole, seen = sees_whole_numbers(), Q(order=None) | Q(order__number_erased=False)
        has = "icontains" if sees_whole or not has_digits(text) else "iexact"
        found = rows.filter(seen, **{f"name__{has}": text}) | rows.filter(seen, **{f"reference__{has}": text})
        found |= rows.filter(~Q(destination__in=spellings(text)), reference__iexact=text)
        return found | rows.filter(seen, destination__startswith=text) if sees_whole else found
