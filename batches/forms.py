"""The forms of batches: a table, and the number and product of one row."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.sheets import FILES, SheetRefused, text_of

_FIELD = {"class": "form-control", "autocomplete": "off"}
MOST_KILOBYTES = 768


class TableForm(forms.Form):
    """A table of sales: a file, or pasted rows; becomes `text`."""

    file = forms.FileField(label=_("File"), required=False)
    text = forms.CharField(label=_("Or paste the rows here"), required=False, strip=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget = forms.FileInput({"class": "form-control", "accept": FILES})
        self.fields["text"].widget = forms.Textarea({**_FIELD, "rows": 8, "spellcheck": "false"})

    def clean(self) -> dict[str, Any]:
        """The text of the file, or the pasted one."""
        facts: dict[str, Any] = super().clean() or {}
        if file := facts.get("file"):
            if file.size > MOST_KILOBYTES * 1024:
                raise self._too_large()
            try:
                facts["text"] = text_of(file.read())
            except SheetRefused as refusal:
                raise forms.ValidationError(str(refusal), code=refusal.code) from refusal
        if not facts.get("text", "").strip():
            raise forms.ValidationError(_("Choose a file, or paste the rows."), code="nothing")
        if len(facts["text"].encode()) > MOST_KILOBYTES * 1024:
            raise self._too_large()
        return facts

    @property
    def name(self) -> str:
        """The file's name; "" for pasted rows."""
        file = self.cleaned_data.get("file")
        return str(file.name) if file else ""

    @staticmethod
    def _too_large() -> forms.ValidationError:
        words = _("The table is larger than %(n)s KB. Cut it into smaller ones, and check one after the other.")
        return forms.ValidationError(words, code="too_large", params={"n": MOST_KILOBYTES})


class RowForm(forms.Form):
    """The number and the product of one row, as they are written."""

    number = forms.CharField(label=_("Number"), max_length=100, widget=forms.TextInput(_FIELD))
    what = forms.CharField(
        label=_("Product or denomination"),
        max_length=100,
        widget=forms.TextInput(_FIELD),
        help_text=_("A product's code, or what you would type at the counter, such as “10” or “xl 10”."),
    )
