"""How the customer pays, as the review asks it."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from credit.forms import CreditCustomerField
from drawers.models import Method

CASH, CREDIT = Method.CASH.value, Method.CREDIT.value


class PaysForm(forms.Form):
    """Cash, or on whose credit."""

    pays = forms.ChoiceField(choices=[(CASH, Method.CASH.label), (CREDIT, Method.CREDIT.label)], required=False)
    on_credit_of = CreditCustomerField(label=_("Whose credit"))

    @property
    def is_on_credit(self) -> bool:
        """Whether nothing is paid now."""
        return str(self["pays"].value() or CASH) == CREDIT
