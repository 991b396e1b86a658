"""Fields and forms that several rooms use, such as whole rupiah or a table; and the faults of a form."""

import datetime as dt
import re
import uuid
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from core.money import rupiah
from core.sheets import FILES, SheetRefused, text_of
from core.times import shop_day

# More than any account holds; the books count in 64 bits.
_MOST = 1_000_000_000_000
_SMALL = 1_000
_UNITS = {"": 1, "rb": 1_000, "ribu": 1_000, "k": 1_000, "jt": 1_000_000, "juta": 1_000_000}
_TYPED = re.compile(
    r"(?:rp\.?)?\s*(?P<whole>\d{1,15}|\d{1,3}(?:[. ]\d{3})+)(?:,(?P<part>\d{1,6})(?=\s*[a-z]))?\s*(?P<unit>[a-z]*)",
    re.ASCII | re.IGNORECASE,
)


class RupiahField(forms.Field):
    """Whole rupiah as people type them: 1500000, Rp 1.500.000, 50rb or 1,5 juta; an `int` of at least `least`."""

    default_error_messages = {
        "invalid": _("Type whole rupiah, for example 1.500.000."),
        "range": _("The amount must be above zero, and below a trillion."),
    }

    def __init__(self, *, least: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.least = least

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """The mark of a field that gets dots while a person types (static/js/forms.js)."""
        return {**super().widget_attrs(widget), "data-rupiah": True}

    def prepare_value(self, value: Any) -> Any:
        """An amount with its dots, as `to_python` reads it; typed text stays."""
        return f"{value:,}".replace(",", ".") if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        """The amount as `int`; None when nothing was typed."""
        typed = str(value or "").strip()
        if not typed:
            return None
        match = _TYPED.fullmatch(typed)
        times = _UNITS.get(match["unit"].lower()) if match else None
        if not match or not times:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        part, digits = (match["part"] or "").rstrip("0"), len(str(times)) - 1
        if len(part) > digits:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        amount = int(re.sub(r"[. ]", "", match["whole"])) * times + int(part.ljust(digits, "0") or 0)
        if not self.least <= amount < _MOST:
            raise forms.ValidationError(self.error_messages["range"], code="range")
        return amount


class OnceField(forms.UUIDField):
    """A hidden number, one per rendered form: the form is entered once, even if it is sent several times."""

    widget = forms.HiddenInput
    default_error_messages = {
        "required": _("It was not sent whole. Try again."),
        "invalid": _("It was not sent whole. Try again."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"label": _("Form"), "initial": uuid.uuid4, **kwargs})

    def bound_data(self, data: Any, initial: Any) -> Any:
        """The number that was sent; a new one if there was none."""
        try:
            return self.to_python(data) or initial
        except forms.ValidationError:
            return initial


class SumForm(forms.Form):
    """An amount that is booked once. "10" is 10.000 at the counter: the form asks before it books less than Rp1.000."""

    amount = RupiahField(
        label=_("Amount"),
        widget=forms.TextInput({"class": "form-control", "autocomplete": "off", "inputmode": "numeric"}),
    )
    asked_about = forms.CharField(required=False, max_length=3, widget=forms.HiddenInput)
    token = OnceField()

    def clean_amount(self) -> int:
        """The amount. A small amount is taken when it is sent again after the question."""
        amount: int = self.cleaned_data["amount"]
        if amount < _SMALL and self.data.get("asked_about") != str(amount):
            self.data = {**dict(self.data.items()), "asked_about": str(amount)}
            words = _("%(small)s, or %(large)s? Type the whole amount, or send it again for %(small)s.")
            sums = {"small": rupiah(amount), "large": rupiah(amount * 1000)}
            raise forms.ValidationError(words, code="small", params=sums)
        return amount

    def clean(self) -> dict[str, Any]:
        """The values that are booked, without `asked_about`."""
        cleaned = super().clean() or {}
        cleaned.pop("asked_about", None)
        return cleaned


def changed_by_reader(form: forms.BaseForm) -> set[str]:
    """The fields whose values differ from those that the page showed: so a colleague's change meanwhile stays.

    The page carries the shown values of fields with `show_hidden_initial`; a field without one counts as changed.
    """
    unknown = (name for name in form.fields if form[name].html_initial_name not in form.data)  # a page of older code
    return {*form.changed_data, *unknown}


def faults_of(form: forms.BaseForm) -> list[str]:
    """The errors of an invalid form, in the order of its fields."""
    return [str(fault) for faults in form.errors.values() for fault in faults]


def first_fault(form: forms.BaseForm) -> str:
    """The first error, after the name of its field, for a message."""
    name, faults = next(iter(form.errors.items()))
    return f"{form[name].label}: {faults[0]}"


class DayField(forms.DateField):
    """A day of the shop (Asia/Jakarta), as `shop_day` reads it."""

    widget = forms.DateInput(attrs={"type": "date", "class": "form-control"})

    def to_python(self, value: Any) -> dt.date | None:
        """The day; None when nothing was chosen."""
        if not value:
            return None
        try:
            return shop_day(str(value))
        except ValueError as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error


class SheetForm(forms.Form):
    """A table: a file, or its pasted rows; becomes `text`, of at most `most_kilobytes`."""

    most_kilobytes: ClassVar[int]
    too_large: ClassVar[Any]  # a text with the place %(n)s
    rows_shown: ClassVar[int]

    file = forms.FileField(label=_("File"), required=False)
    text = forms.CharField(label=_("Or paste the rows here"), required=False, strip=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget = forms.FileInput({"class": "form-control", "accept": FILES})
        looks = {"class": "form-control", "autocomplete": "off", "rows": self.rows_shown, "spellcheck": "false"}
        self.fields["text"].widget = forms.Textarea(looks)

    def clean(self) -> dict[str, Any]:
        """The text of the file, or the pasted one."""
        facts: dict[str, Any] = super().clean() or {}
        if file := facts.get("file"):
            # In a workbook or in UTF-16 the same text takes more, but not so much more.
            if file.size > 4 * self.most_kilobytes * 1024:
                raise self._too_large()
            try:
                facts["text"] = text_of(file.read())
            except SheetRefused as refusal:
                raise forms.ValidationError(str(refusal), code=refusal.code) from refusal
        if not facts.get("text", "").strip():
            raise forms.ValidationError(_("Choose a file, or paste the rows."), code="nothing")
        # A browser sends the text back with longer line ends: those do not count.
        if len(facts["text"].replace("\r\n", "\n").encode()) > self.most_kilobytes * 1024:
            raise self._too_large()
        return facts

    def _too_large(self) -> forms.ValidationError:
        return forms.ValidationError(self.too_large, code="too_large", params={"n": self.most_kilobytes})
