"""The forms of a sale."""

import uuid
from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.forms import RupiahField
from purchases.models import Verdict

_TEXT = {"class": "form-control", "autocomplete": "off"}


class ConfirmForm(forms.Form):
    """The values that a confirmed review sends back."""

    token = forms.UUIDField()
    price = RupiahField()  # what the customer pays
    seal = forms.CharField(max_length=64, required=False)
    reason = forms.CharField(max_length=500, required=False)
    confirm_repeat = forms.BooleanField(required=False)

    @staticmethod
    def new_token() -> str:
        """One per rendered review: pressing its button twice gives one order."""
        return str(uuid.uuid4())


class PriceForm(forms.Form):
    """The cost, in rupiah, that a person confirms for an order that needs action, and why it is sold below cost.

    `seal`: the sealed cost, for people who may not see it.
    """

    price = RupiahField(required=False)
    seal = forms.CharField(max_length=64, required=False)
    reason = forms.CharField(max_length=500, required=False)


class NoteForm(forms.Form):
    """A few words on why, kept in the order's timeline or with the incident."""

    note = forms.CharField(max_length=500, strip=True, required=False)


class NeededNoteForm(NoteForm):
    """A note that must have words."""

    note = forms.CharField(max_length=500, strip=True)


class VerdictForm(forms.Form):
    """The end of an order, the place where a person saw it, and the reason for the decision."""

    outcome = forms.ChoiceField(label=_("It ended as"), widget=forms.RadioSelect({"class": "form-check-input"}))
    evidence = forms.CharField(
        label=_("Evidence: where did you see it?"), max_length=500, widget=forms.TextInput(attrs=_TEXT)
    )
    sn = forms.CharField(
        label=_("SN or token that you saw, for a success"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs=_TEXT),
    )
    reason = forms.CharField(label=_("Reason"), max_length=500, widget=forms.TextInput(attrs=_TEXT))

    def __init__(self, *args: Any, outcomes: Collection[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(value, label) for value, label in Verdict.Outcome.choices if value in outcomes]
        self.fields["outcome"].choices = choices  # type: ignore[attr-defined]
        self.fields["outcome"].initial = choices[0][0] if len(choices) == 1 else None
        self.takes_sn = Verdict.Outcome.SUCCESS in outcomes
