"""The filters of the list of checks; they live in the URL."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from bills.models import BillCheck, BillCheckQuerySet, State


class BillFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Search by ref_id, customer number or customer name; narrow by state. For checks `with_state()`."""

    q = django_filters.CharFilter(method="search", label=_("ref_id, number or name"), max_length=100)
    state = django_filters.ChoiceFilter(
        field_name="now_state", label=_("Status"), empty_label=_("Every status"), choices=State.choices
    )

    class Meta:
        model = BillCheck
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.form.fields["q"].widget.attrs |= {"class": "form-control", "autocomplete": "off"}
        self.form.fields["state"].widget.attrs["class"] = "form-select"

    def search(self, checks: BillCheckQuerySet, _name: str, text: str) -> BillCheckQuerySet:
        """By the beginning of the ref_id, a part of the customer number, or a part of the name."""
        plain = text.strip()
        found = Q(ref_id__istartswith=plain) | Q(customer_name__icontains=plain)
        if digits := "".join(c for c in plain if c.isalnum()):
            found |= Q(destination__icontains=digits)
        return checks.filter(found)
