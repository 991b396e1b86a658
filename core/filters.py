"""The filters of a list; they live in the URL. Styled here, once, and read by `components/filters.html`."""

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

import django_filters
from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from core.forms import DayField, RupiahField
from core.keys import typed_key
from core.money import rupiah
from core.notation import without_marks
from core.periods import Period
from core.search import MOST_FOUND, count_up_to
from core.times import day_words, start_of_day


class Choices(forms.Select):
    """A list of choices without templates: Django renders one for each choice, which takes 5 ms for the brands."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        options = (
            (key, SafeString(" selected") if str(key) == (value or "") else "", words) for key, words in self.choices
        )
        opening = flatatt({"name": name, **self.build_attrs(self.attrs, attrs)})
        shown = format_html_join("", '<option value="{}"{}>{}</option>', options)
        return format_html("<select{}>{}</select>", opening, shown)


@dataclass(frozen=True)
class Chip:
    """A filter in words. `url`: the list without it; for a period that is not chosen, the list with it.

    `field`: the id of the field that changes it; empty without such a field.
    """

    name: str
    words: str
    url: str
    is_chosen: bool = True
    field: str = ""


class ListFilter(django_filters.FilterSet):  # type: ignore[misc]
    """The parent of every list's filter. An invalid filter is left out of the list, and `faults` names it.

    `seldom`: names of filters that a link sets; the page shows them only then. `is_compact`: the fields lie behind one
    button; periods (by a `DaysFilter`) and chosen filters are chips. `example`: stands in the empty search field of
    a compact filter, short enough for a phone; without it the field's label does.

    `line` in an address names the filters of the line that was typed last; it narrows nothing.
    """

    seldom: ClassVar[Collection[str]] = ()
    is_compact: ClassVar[bool] = False
    example: ClassVar[Any] = ""

    # The columns to show, by their names (`exports.listing`). They narrow nothing.
    columns = django_filters.CharFilter(method="as_they_are", max_length=200, widget=forms.HiddenInput)

    def __init__(self, data: Any, *args: Any, **kwargs: Any) -> None:
        if (text := data.get("q", "")) != (clean := without_marks(text)):
            data = data.copy()
            data["q"] = clean
        super().__init__(data, *args, **kwargs)
        if self.is_compact and "q" in self.form.fields:
            self.form.fields["q"].widget.attrs["placeholder"] = self.example or self.form.fields["q"].label
        for field in self.form.fields.values():
            is_choice = isinstance(field, forms.ChoiceField)
            field.widget.attrs.setdefault("class", "form-select" if is_choice else "form-control")
            if is_choice:
                field.widget = Choices(field.widget.attrs, field.choices)

    def as_they_are(self, rows: QuerySet[Any], _name: str, _columns: str) -> QuerySet[Any]:
        return rows

    @property
    def is_filtered(self) -> bool:
        """Whether the address names any filter."""
        return any(self.form[name].value() for name in self.form.fields if name != "columns")

    @property
    def is_cut(self) -> bool:
        """Whether so many rows fit the search that only the newest are found (`core.search.found_by`)."""
        text = self.form.cleaned_data.get("q") if self.form.is_valid() else ""
        return bool(text) and count_up_to(self.filters["q"].filter(self.queryset, text), MOST_FOUND) >= MOST_FOUND

    def shown_fields(self) -> Iterator[forms.BoundField]:
        return (
            field for field in self.form if not field.is_hidden and (field.name not in self.seldom or field.value())
        )

    def periods(self) -> Iterator[Chip]:
        """The spans of days; each replaces the chosen days. The first with exactly the days from and to is chosen."""
        days, today = [self.data.get(name, "") for name in ("since", "until")], timezone.localdate()
        alike = (period for period in Period if [str(day) for day in period.days(today)] == days)
        chosen = self.data.get("days") or next(alike, "" if any(days) else None)
        yield Chip("every", gettext("Every day"), self.url_without("days", "since", "until"), chosen is None)
        for period in Period:
            url = self.url_without("days", "since", "until", days=period.value)
            yield Chip(period.value, str(period.label), url, chosen == period)

    def chips(self) -> Iterator[Chip]:
        """The valid filters, except the search and the period, which have places of their own on the page."""
        for name, field in self.form.fields.items():
            bound = self.form[name]
            value = bound.value()
            is_typed = bool(value and str(value).strip())  # a space alone narrows nothing
            if is_typed and name not in {"q", "days", "columns"} and name not in self.form.errors:
                words = f"{field.label}: {self.in_words(name, value)}"
                changes = "" if bound.is_hidden else str(bound.id_for_label)
                yield Chip(name, words, self.url_without(name), field=changes)

    @property
    def chosen(self) -> list[Chip]:
        """The chips, to be counted and shown."""
        return list(self.chips())

    @property
    def chosen_days(self) -> Chip | None:
        """The chosen span of days, as a filter that can be removed."""
        days = self.data.get("days", "")
        return Chip("days", str(Period(days).label), self.url_without("days")) if days in Period.values else None

    def standing(self, asked: Collection[str] | None = None) -> list[Chip]:
        """The chosen filters that the last line did not name (`asked`: those that it named), in the order of the page.

        Empty when no line was typed: then every filter was chosen by itself.
        """
        named = self._asked() if asked is None else asked
        if not named:
            return []
        days = self.chosen_days
        return [chip for chip in [*self.chips(), *([days] if days else [])] if chip.name not in named]

    @property
    def unfound(self) -> str:
        """The words of the search if nothing in the whole list has them and other filters are chosen, too; else ""."""
        text = self.form.cleaned_data.get("q") if self.form.is_valid() else ""
        has_others = any(self.data.get(name) for name in self.form.fields if name not in {"q", "columns"})
        return text if text and has_others and not self.filters["q"].filter(self.queryset, text).exists() else ""

    def url_without_words(self) -> str:
        """The query of the same list without the search."""
        return self.url_without("q")

    def url_of_line(self) -> str:
        """The query of the line typed last, in the whole list."""
        kept = {*self._asked(), "columns"}
        return self.url_without(*(name for name in self.form.fields if name not in kept))

    def _asked(self) -> set[str]:
        """The filters that the last line named, with the search."""
        named = {*self.data.get("line", "").split(","), *(["q"] if self.data.get("q") else [])}
        return named & {*self.form.fields}

    def in_words(self, name: str, value: str) -> str:
        """The value of this filter as people read it."""
        field = self.form.fields[name]
        if isinstance(field, forms.ChoiceField):
            choices: Any = field.choices
            return next((str(label) for key, label in choices if str(key) == value), value)
        if isinstance(field, DayField):
            return day_words(value)
        return rupiah(field.clean(value)) if isinstance(field, RupiahField) else value

    def url_without(self, *names: str, **more: str) -> str:
        """The query of the same list without these filters and with `more`."""
        values = {name: self.data[name] for name in self.form.fields if self.data.get(name) and name not in names}
        return f"?{urlencode(values | more)}"

    def as_query(self) -> str:
        """The filters as an address has them. Relative days become dates: a file may be written on another day."""
        values = {name: self.data[name] for name in self.form.fields if self.data.get(name)}
        if values.get("days") in Period.values:
            since, until = Period(values.pop("days")).days(timezone.localdate())
            values["since"] = max(values.get("since", ""), since.isoformat())
            values["until"] = min(values.get("until", "9"), until.isoformat())
        return urlencode(values)

    @property
    def faults(self) -> str:
        """The invalid filters, in a sentence for each field."""
        return " ".join(f"{self.form[name].label}: {errors[0]}" for name, errors in self.form.errors.items())


class KeyField(forms.IntegerField):
    """The key of a row."""

    widget = forms.TextInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "min_value": 1, "max_value": 2**63 - 1})

    def to_python(self, value: Any) -> int | None:
        """The key; None for an empty value. Django would take "5.0", too, which finds no row where the text is used."""
        if value and typed_key(str(value).strip()) is None:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class SearchFilter(django_filters.CharFilter):  # type: ignore[misc]
    """The list's search field; the key "F" leads to it."""

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


class DaysFilter(django_filters.ChoiceFilter):  # type: ignore[misc]
    """Rows whose `field_name` is in this period, as `Period` counts from today."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"label": _("Days"), "empty_label": _("Every day"), "choices": Period.choices, **kwargs})

    def filter(self, rows: QuerySet[Any], period: str) -> QuerySet[Any]:
        """The rows of that period; all of them without one."""
        if not period:
            return rows
        first, last = Period(period).days(timezone.localdate())
        begin, end = start_of_day(first), start_of_day(last + dt.timedelta(days=1))
        return rows.filter(**{f"{self.field_name}__gte": begin, f"{self.field_name}__lt": end})


class AmountFilter(django_filters.Filter):  # type: ignore[misc]
    """Rows by an amount in whole rupiah; the filter's `method` compares it."""

    field_class = RupiahField


class KeyFilter(django_filters.Filter):  # type: ignore[misc]
    """Rows that belong to one other row, by its key; a link sets it."""

    field_class = KeyField
