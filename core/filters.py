"""The filters of a list; they live in the URL. Styled here, once, and read by `components/filters.html`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from typing import Any, ClassVar

import django_filters
from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core.forms import DayField
from core.times import start_of_day


class Choices(forms.Select):
    """A list of choices. Django draws a template for each of them: 5 ms for every brand."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Its element."""
        options = (
            (key, SafeString(" selected") if str(key) == (value or "") else "", words) for key, words in self.choices
        )
        opening = flatatt({"name": name, **self.build_attrs(self.attrs, attrs)})
        shown = format_html_join("", '<option value="{}"{}>{}</option>', options)
        return format_html("<select{}>{}</select>", opening, shown)


class ListFilter(django_filters.FilterSet):  # type: ignore[misc]
    """The parent of every list's filter. An invalid filter is left out of the list, and `faults` names it.

    `seldom`: names of filters that a link sets; the page shows them only then.
    """

    seldom: ClassVar[Collection[str]] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            is_choice = isinstance(field, forms.ChoiceField)
            field.widget.attrs.setdefault("class", "form-select" if is_choice else "form-control")
            if is_choice:
                field.widget = Choices(field.widget.attrs, field.choices)

    @property
    def is_filtered(self) -> bool:
        """Whether the address names any filter."""
        return any(self.form[name].value() for name in self.form.fields)

    def shown_fields(self) -> Iterator[forms.BoundField]:
        """The fields for the page."""
        return (field for field in self.form if field.name not in self.seldom or field.value())

    @property
    def faults(self) -> str:
        """The invalid filters, in a sentence for each field."""
        return " ".join(f"{self.form[name].label}: {errors[0]}" for name, errors in self.form.errors.items())


class SearchFilter(django_filters.CharFilter):  # type: ignore[misc]
    """The list's search field; the key "/" leads to it."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"type": "search", "autocomplete": "off", "spellcheck": "false", "data-search": True}
        super().__init__(**{"max_length": 100, "method": "search", "widget": forms.TextInput(attrs=attrs), **kwargs})


class SinceFilter(django_filters.Filter):  # type: ignore[misc]
    """Rows whose `field_name` is on this day of the shop or later."""

    field_class = DayField

    def filter(self, rows: QuerySet[Any], day: dt.date | None) -> QuerySet[Any]:
        """The rows from that day on; all of them without a day."""
        return rows.filter(**{f"{self.field_name}__gte": start_of_day(day)}) if day else rows


class UntilFilter(SinceFilter):
    """Rows whose `field_name` is on this day of the shop or earlier."""

    def filter(self, rows: QuerySet[Any], day: dt.date | None) -> QuerySet[Any]:
        """The rows up to and with that day; all of them without a day."""
        return rows.filter(**{f"{self.field_name}__lt": start_of_day(day + dt.timedelta(days=1))}) if day else rows
