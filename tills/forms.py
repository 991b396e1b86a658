"""Forms at a till, and about one."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.forms.models import model_to_dict
from django.utils.translation import gettext_lazy as _

from branches.forms import WithBranch
from core.forms import RupiahField, changed_by_reader
from tills.models import Codepage, PrinterLanguage, PrinterWay, Roll, Speed, TillPrinter
from tills.services import is_weak

_FIELD = {"class": "form-control", "autocomplete": "off"}
_SIX_DIGITS = RegexValidator(r"\A[0-9]{6}\Z", _("A PIN has 6 digits."), code="six_digits")


class PinField(forms.CharField):
    """Six digits, hidden while they are typed."""

    def __init__(self, *, autocomplete: str = "off", **facts: Any) -> None:
        attrs = {"class": "form-control form-big", "inputmode": "numeric", "maxlength": 6, "autocomplete": autocomplete}
        super().__init__(widget=forms.PasswordInput(attrs), validators=[_SIX_DIGITS], strip=True, **facts)


class TakeOverForm(forms.Form):
    """The next person, and their PIN. An invalid PIN is not counted as a guess."""

    person = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    pin = PinField(label=_("PIN"))


class OwnPinForm(forms.Form):
    """A new PIN, typed twice."""

    pin1 = PinField(label=_("New PIN"), autocomplete="new-password")
    pin2 = PinField(label=_("The same PIN again"), autocomplete="new-password")

    def clean(self) -> dict[str, Any]:
        """An error of the PIN stands beside its own field."""
        first, second = self.cleaned_data.get("pin1"), self.cleaned_data.get("pin2")
        if first and is_weak(first):
            weak = _("Too easy to guess: no repeated digits and no sequence, such as 112233 or 123456.")
            self.add_error("pin1", ValidationError(weak, code="weak"))
        elif first and second and first != second:
            self.add_error("pin2", ValidationError(_("The two PINs are not the same."), code="differ"))
        return self.cleaned_data


class CodeForm(forms.Form):
    """The code that makes this browser a till."""

    code = forms.CharField(label=_("Code"), max_length=20, strip=True)


class TillForm(WithBranch):
    """A till's name and branch, and the most that one order by PIN may cost there."""

    name = forms.CharField(label=_("Name of the till"), max_length=60, strip=True)
    pin_limit = RupiahField(label=_("Most for one order by PIN, in rupiah"), least=0, required=False)

    field_order = ["name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", "pin_limit"):
            self.fields[name].widget.attrs |= _FIELD
        for field in self.fields.values():
            field.show_hidden_initial = True
        self.fields["pin_limit"].widget.attrs["inputmode"] = "numeric"

    @property
    def wanted(self) -> dict[str, Any]:
        """The values of a valid form; one that the reader has not changed stays as the form began."""
        changed = changed_by_reader(self)
        return {name: (self.cleaned_data if name in changed else self.initial)[name] for name in self.fields}


class PrinterForm(forms.Form):
    """The printing of a till. Without a way, it prints with the browser's window."""

    way = forms.ChoiceField(
        label=_("Prints"), required=False, choices=[("", _("With the browser's print window")), *PrinterWay.choices]
    )
    roll = forms.ChoiceField(label=_("Paper"), choices=Roll.choices, initial=Roll.MM58)
    language = forms.ChoiceField(
        label=_("Language of the printer"), choices=PrinterLanguage.choices, initial=PrinterLanguage.ESC_POS
    )
    codepage = forms.ChoiceField(label=_("Letters (codepage)"), choices=Codepage.choices, initial=Codepage.CP437)
    speed = forms.TypedChoiceField(
        label=_("Speed of the serial port"), choices=Speed.choices, coerce=int, initial=Speed.B9600
    )
    has_drawer = forms.BooleanField(label=_("A cash drawer hangs at this printer"), required=False)

    def __init__(self, *args: Any, printer: TillPrinter | None = None, **kwargs: Any) -> None:
        if printer:
            kwargs["initial"] = model_to_dict(printer)
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs["class"] = "form-check-input" if name == "has_drawer" else "form-select"

    @property
    def facts(self) -> dict[str, Any] | None:
        """The values for `set_printer`."""
        return self.cleaned_data if self.cleaned_data["way"] else None
