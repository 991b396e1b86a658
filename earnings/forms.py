"""The form of the journal's accounts."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from earnings.journal_accounts import ACCOUNTS

_NUMBER_AND_NAME = r"^\S+ \S[^\x00-\x1f]*$"


class AccountsForm(forms.Form):
    """The number and the name of each account."""

    def __init__(self, data: Any, *, names: Mapping[str, str]) -> None:
        super().__init__(data, initial=dict(names))
        for key, account in ACCOUNTS.items():
            self.fields[key] = forms.RegexField(
                _NUMBER_AND_NAME,
                label=str(account.words),
                max_length=60,
                error_messages={"invalid": _("Number, space, name: for example “1-1000 Kas”.")},
                widget=forms.TextInput({"class": "form-control", "autocomplete": "off"}),
            )
