"""The filters of the statement; they live in the URL, and the files for spreadsheets keep to them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import django_filters
from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from balance.models import Entry
from balance.models.ledger import EntryQuerySet

MONEY = "money"
# Days that no shop has seen are left to no calendar's end.
_FIRST_YEAR, _LAST_YEAR = 2000, 9000


def midnight(day: dt.date) -> dt.datetime:
    """When this day of the shop begins."""
    return timezone.make_aware(dt.datetime.combine(day, dt.time()))


class EntryFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Narrow the entries by day (Asia/Jakarta), kind and order."""

    q = django_filters.CharFilter(method="of_order", label=_("ref_id"), max_length=64)
    kind = django_filters.ChoiceFilter(
        method="of_kind",
        label=_("Kind"),
        empty_label=_("Every entry"),
        choices=[(MONEY, _("Without holds")), *Entry.Kind.choices],
    )
    since = django_filters.DateFilter(
        method="from_day", label=_("From"), widget=forms.DateInput(attrs={"type": "date"})
    )
    until = django_filters.DateFilter(method="to_day", label=_("To"), widget=forms.DateInput(attrs={"type": "date"}))

    class Meta:
        model = Entry
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.form.fields.items():
            field.widget.attrs["class"] = "form-select" if name == "kind" else "form-control"

    def of_order(self, entries: EntryQuerySet, _name: str, text: str) -> EntryQuerySet:
        """By the order's ref_id."""
        return entries.filter(ref_id=text.strip())

    def of_kind(self, entries: EntryQuerySet, _name: str, kind: str) -> EntryQuerySet:
        """By kind; or all that moved the balance itself."""
        return entries.exclude(balance_change=0) if kind == MONEY else entries.filter(kind=kind)

    def from_day(self, entries: EntryQuerySet, _name: str, day: dt.date) -> EntryQuerySet:
        """Of this day or later."""
        return entries if day.year < _FIRST_YEAR else entries.filter(at__gte=midnight(day))

    def to_day(self, entries: EntryQuerySet, _name: str, day: dt.date) -> EntryQuerySet:
        """Of this day or earlier."""
        return entries if day.year > _LAST_YEAR else entries.filter(at__lt=midnight(day + dt.timedelta(days=1)))
