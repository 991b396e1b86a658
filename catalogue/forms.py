"""The field for a destination, by kind of product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import DestinationKind, kind_of, normalise, split_zone
from catalogue.errors import InvalidDestination
from catalogue.models import Product

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as _StrOrPromise


@dataclass(frozen=True)
class FieldWords:
    """How the field for a destination is labelled and which keyboard a phone shows for it."""

    label: _StrOrPromise
    hint: _StrOrPromise
    placeholder: str
    inputmode: str


FIELD_WORDS = {
    DestinationKind.PHONE: FieldWords(
        _("Phone number"), _("For example 0812 3456 7890, 62812… or +62 812…"), "0812 3456 7890", "tel"
    ),
    DestinationKind.METER: FieldWords(
        _("Meter or customer number"), _("11 or 12 digits, as on the meter."), "1234 5678 901", "numeric"
    ),
    DestinationKind.GAME: FieldWords(_("Player ID"), _("As shown in the player's profile."), "123456789", "text"),
    DestinationKind.GAME_ZONE: FieldWords(
        _("Player ID"), _("In the game: 12345678 (1234). The part in brackets is the zone."), "12345678", "numeric"
    ),
    DestinationKind.CARD: FieldWords(
        _("Card or phone number"),
        _("The 16 digits on the card, or the phone number of the wallet."),
        "0812 3456 7890",
        "numeric",
    ),
    DestinationKind.CUSTOMER: FieldWords(_("Customer number"), _("As on the bill or the card."), "1234567890", "text"),
}


class DestinationForm(forms.Form):
    """For whom: the number, and the zone for games that have one. `cleaned` is the destination as it will be sent."""

    destination = forms.CharField(max_length=64, strip=True)
    zone = forms.CharField(max_length=10, strip=True, required=False, label=_("Zone ID"))

    def __init__(self, *args: Any, product: Product, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind_of(product)
        self.words = FIELD_WORDS[self.kind]
        self.cleaned = ""
        field = self.fields["destination"]
        field.label = self.words.label
        field.error_messages["required"] = _("Type the number first.")
        field.widget.attrs |= {
            "class": "form-control form-big",
            "inputmode": self.words.inputmode,
            "placeholder": self.words.placeholder,
            "autocomplete": "off",
            "autofocus": True,
            "spellcheck": "false",
            "data-search": True,
            "aria-describedby": "destination-hint destination-error",
        }
        if self.kind is DestinationKind.GAME_ZONE:
            self.fields["zone"].widget.attrs |= {
                "class": "form-control form-big",
                "inputmode": "numeric",
                "placeholder": "1234",
                "autocomplete": "off",
                "aria-describedby": "zone-error",
            }
        else:
            del self.fields["zone"]
        if self.is_bound:
            for name in self.errors:
                if name in self.fields:
                    self.fields[name].widget.attrs["aria-invalid"] = "true"

    def clean(self) -> dict[str, Any] | None:
        """Check and normalise the destination by the rules of its kind."""
        values = super().clean() or {}
        has_zone = values.get("zone") or split_zone(values.get("destination", ""))[1]
        if self.kind is DestinationKind.GAME_ZONE and not has_zone:
            self.add_error("zone", forms.ValidationError(_("This game needs the zone too."), code="required"))
        if not self.errors:
            try:
                self.cleaned = normalise(self.kind, values["destination"], values.get("zone", ""))
            except InvalidDestination as error:
                self.add_error("destination", forms.ValidationError(str(error), code="invalid"))
        return values
