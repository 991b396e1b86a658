"""The forms of batches: a table, and the number and product of one row."""

from django import forms
from django.utils.translation import gettext_lazy as _

from core.forms import SheetForm

_FIELD = {"class": "form-control", "autocomplete": "off"}


class TableForm(SheetForm):
    """A table of sales."""

    most_kilobytes = 768
    too_large = _("The table is larger than %(n)s KB. Cut it into smaller ones, and check one after the other.")
    rows_shown = 8

    @property
    def name(self) -> str:
        """The file's name; "" for pasted rows."""
        file = self.cleaned_data.get("file")
        return str(file.name) if file else ""


class RowForm(forms.Form):
    """The number and the product of one row, as they are written."""

    number = forms.CharField(label=_("Number"), max_length=100, widget=forms.TextInput(_FIELD))
    what = forms.CharField(
        label=_("Product or denomination"),
        max_length=100,
        widget=forms.TextInput(_FIELD),
        help_text=_("A product's code, or what you would type at the counter, such as “10” or “xl 10”."),
    )
