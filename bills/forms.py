"""What people type and confirm about bills."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import DestinationKind
from catalogue.forms import DestinationForm, FieldWords
from catalogue.models import Product
from core.forms import RupiahField

# How billers call their customers' numbers, by words in the code or name of the category; the first hit counts.
_BILLER_WORDS = [
    (
        ("bpjs",),
        FieldWords(_("Participant or VA number"), _("As on the card or in the biller's app."), "0001 2345 67890", ""),
    ),
    (
        ("finance", "cicilan", "kredit", "angsuran"),
        FieldWords(_("Contract number"), _("As on the contract or the payment book."), "1234 5678 90", ""),
    ),
    (
        ("pdam", "internet", "tv", "gas", "pbb"),
        FieldWords(_("Customer number"), _("As on an earlier bill."), "1234 5678 90", ""),
    ),
]


class BillForm(DestinationForm):
    """The customer number at a biller; checked and normalised by the rules of its kind."""

    def __init__(self, *args: Any, product: Product, **kwargs: Any) -> None:
        super().__init__(*args, product=product, **kwargs)
        attrs = self.fields["destination"].widget.attrs
        if self.kind is DestinationKind.CUSTOMER:
            category = f"{product.category.code} {product.category.name}".lower()
            self.words = next(
                (words for names, words in _BILLER_WORDS if any(name in category for name in names)), self.words
            )
            self.fields["destination"].label = self.words.label
            attrs["placeholder"] = self.words.placeholder
            # Nearly all are digits, some have a letter: the digits' keyboard first, and letters can be reached.
            attrs["inputmode"] = "text" if product.category.code.startswith("internet") else "numeric"


class PayForm(forms.Form):
    """The total and the shop's fee, in rupiah, that a person has seen and confirms."""

    amount = RupiahField()
    fee = RupiahField(least=0, required=False)
