"""The confirmations of bills at the counter."""

from django import forms

from core.forms import RupiahField


class PayForm(forms.Form):
    """The total and the shop's fee, in rupiah, that a person saw and confirms."""

    amount = RupiahField()
    fee = RupiahField(least=0, required=False)
