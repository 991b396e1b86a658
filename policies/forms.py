"""The form of the policies: one field for each, in parts."""

from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.forms import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from core.forms import RupiahField, changed_by_reader
from policies.bounds import BOUNDS, SWITCHES
from policies.models import Policies
from policies.words import PARTS, SWITCH, UNITS, WORDS, value_in_words

#: The two ends of hours belong together: people change both, or neither.
_HOURS = (("quiet_from", "quiet_to"), ("opens_at", "closes_at"))


class Row(NamedTuple):
    """A policy on the page. `first`: its first value in words; `variable`: the environment's, if it sets it. Or ""."""

    field: BoundField
    unit: Promise | str
    hint: Promise
    first: str
    variable: str


class PoliciesForm(forms.Form):
    """It begins with the present policies. A policy that the environment sets cannot be changed here.

    The page carries the values that it showed (`initial-…`), so that it changes only what its reader has changed.
    """

    reason = forms.CharField(required=False, max_length=300, strip=True)

    def __init__(self, data: Any = None, *, held: Policies) -> None:
        super().__init__(data, initial={name: getattr(held, name) for name in WORDS})
        for name, words in WORDS.items():
            self.fields[name] = _field(name, unit=words.unit)
            self.fields[name].label = str(words.label)
            self.fields[name].show_hidden_initial = True
            self.fields[name].disabled = name in settings.POLICIES

    def parts(self) -> list[tuple[Promise, list[Row]]]:
        """Each part's title and rows."""
        return [(title, [self._row(name) for name in rows]) for title, rows in PARTS]

    def _row(self, name: str) -> Row:
        words, first = WORDS[name], ""
        if name in BOUNDS or name in SWITCHES:
            first = value_in_words(name, BOUNDS[name].default if name in BOUNDS else False)
        return Row(self[name], UNITS[words.unit], words.hint, first, name.upper() if name in settings.POLICIES else "")

    def clean(self) -> dict[str, Any]:
        """Quiet hours and opening hours have two different ends, or none."""
        typed = super().clean() or {}
        for begin, end in _HOURS:
            ends = {typed.get(begin), typed.get(end)}
            if not self.errors and ends != {None} and (None in ends or len(ends) == 1):
                self.add_error(end, forms.ValidationError(_("Type two different times, or none."), code="both"))
        return typed

    @property
    def wanted(self) -> dict[str, Any]:
        """The values for `change_policies`: those that differ from what the page showed; only of a valid form."""
        changed = changed_by_reader(self)
        changed |= {end for hours in _HOURS for end in hours if not changed.isdisjoint(hours)}
        return {name: self.cleaned_data[name] for name in WORDS if name in changed and name not in settings.POLICIES}


def _field(name: str, *, unit: str) -> forms.Field:
    attrs = {"class": "form-control", "autocomplete": "off"}
    if unit == "time":
        return forms.TimeField(
            required=False,
            widget=forms.TimeInput(attrs | {"type": "time"}, format="%H:%M"),
            input_formats=["%H:%M", "%H:%M:%S"],
        )
    if unit == "switch":
        return forms.TypedChoiceField(
            choices=list(SWITCH.items()),
            coerce=lambda value: value == "True",
            widget=forms.Select({"class": "form-select"}),
        )
    bounds = BOUNDS[name]
    if unit == "rupiah":
        return RupiahField(least=bounds.least, widget=forms.TextInput(attrs | {"inputmode": "numeric"}))
    words = _("Type a number from %(least)s to %(most)s.") % {"least": bounds.least, "most": bounds.most}
    return forms.IntegerField(
        required=not bounds.or_none,
        min_value=bounds.least,
        max_value=bounds.most,
        widget=forms.NumberInput(attrs | {"inputmode": "numeric"}),
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), words),
    )
