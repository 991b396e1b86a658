"""The forms of the bank: a file, its columns, and a person's decision about a row."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from bank.formats import PARTS, Columns, column_of_days, has_day
from bank.models import MOST_FEE

_LABELS = {
    "day": _("Day of the booking"),
    "text": _("Text"),
    "amount": _("Amount"),
    "sign": _("Column of CR or DB"),
    "debit": _("Out (debit)"),
    "credit": _("In (credit)"),
    "reference": _("Reference"),
}
_LINE = {"class": "form-control", "autocomplete": "off"}
_LONGEST = 40


class FileForm(forms.Form):
    """A file of the bank, and the account whose rows it holds."""

    account = forms.CharField(
        label=pgettext_lazy("bank", "Account"),
        max_length=40,
        strip=True,
        widget=forms.TextInput({**_LINE, "list": "bank-accounts", "placeholder": "BCA 0123"}),
        help_text=_("The bank, and the last digits: the same words each time."),
    )
    file = forms.FileField(
        label=_("File (CSV)"), widget=forms.FileInput({"class": "form-control", "accept": ".csv,.txt,text/csv"})
    )
    fee = forms.RegexField(
        r"^\d(\d?)([.,]\d{1,2})?$",
        label=_("Fee of QRIS and cards, at most (%)"),
        required=False,
        widget=forms.TextInput({**_LINE, "inputmode": "decimal"}),
        help_text=_(
            "The provider pays a day's sum less its fee. Empty: as this account has it; 1 percent for a new one."
        ),
        error_messages={"invalid": _("Type a percentage up to 10, such as 0,7.")},
    )

    @property
    def named(self) -> list[forms.BoundField]:
        """The fields that each file needs."""
        return [self["account"], self["file"]]

    def clean_fee(self) -> int | None:
        """The fee in hundredths of a percent; None to leave that of the account."""
        if not self.cleaned_data["fee"]:
            return None
        fee = int(Decimal(self.cleaned_data["fee"].replace(",", ".")) * 100)
        if fee > MOST_FEE:
            raise forms.ValidationError(self.fields["fee"].error_messages["invalid"], code="invalid")
        return fee


class ColumnsForm(forms.Form):
    """The column of the file for each part of a row."""

    def __init__(self, lines: Sequence[Sequence[str]], data: Any = None, guess: Columns | None = None) -> None:
        super().__init__(data, initial=guess.as_dict() if guess else {"day": column_of_days(lines)})
        widest = max(lines, key=len)
        self._heading = guess.heading if guess else ()
        names = self._heading or ("",) * len(widest)
        choices = [
            (at, f"{at + 1}: {' · '.join(filter(None, (name, cell[:_LONGEST])))}")
            for at, (name, cell) in enumerate(zip(names, _example(lines, len(names)), strict=True))
        ]
        for part in PARTS:
            is_needed = part in {"day", "text"}
            self.fields[part] = forms.TypedChoiceField(
                label=_LABELS[part],
                choices=choices if is_needed else [("", "–"), *choices],
                coerce=int,
                empty_value=None,
                required=is_needed,
                widget=forms.Select({"class": "form-select"}),
            )

    def clean(self) -> dict[str, Any]:
        """Require an amount, or both debit and credit."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and not Columns(**cleaned).has_amount:
            raise forms.ValidationError(_("Choose the amount, or both debit and credit."), code="no_amount")
        return cleaned

    @property
    def found(self) -> list[Any]:
        """The labels of the columns that were chosen or found by their names."""
        return [self.fields[part].label for part in PARTS if self[part].value() not in {None, ""}]

    @property
    def columns(self) -> Columns:
        """The chosen columns, once the form is valid."""
        return Columns(**self.cleaned_data, heading=self._heading)


def _example(lines: Sequence[Sequence[str]], width: int) -> list[str]:
    """The cells of the last booking that has all columns."""
    whole = [line for line in lines if len(line) >= width and sum(map(bool, line)) > 2]
    bookings = [line for line in whole if has_day(line)]
    return [*(bookings or whole or lines)[-1], *[""] * width][:width]


class DecisionForm(forms.Form):
    """A person's decision about a row. `item`: the key of the item that it is matched with."""

    action = forms.ChoiceField(choices=[(name, name) for name in ("match", "aside", "away")])
    item = forms.CharField(max_length=80, required=False)
    reason = forms.CharField(max_length=500, strip=True, error_messages={"required": _("Write the reason first.")})
