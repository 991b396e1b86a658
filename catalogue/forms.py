"""The field for a destination, by kind of product; what people type about a price rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import DestinationKind, kind_of, normalise, split_zone
from catalogue.errors import InvalidDestination
from catalogue.models import MOST_PERCENT, MOST_RUPIAH, ROUNDINGS, Brand, Category, PriceRuleKind, Product
from catalogue.services.below_cost import percent
from catalogue.services.rules import Target, Terms
from core.forms import RupiahField
from core.money import rupiah

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


END = "end"
_PERCENT = re.compile(r"(\d{1,4})(?:[.,](\d{1,2}))?\s*%?", re.ASCII)


class TargetForm(forms.Form):
    """What a rule is for: one of the broad ones, or a product by its code."""

    target = forms.CharField(label=_("For"), max_length=40, required=False, widget=forms.Select)
    product = forms.CharField(label=_("or one product: its code"), max_length=100, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["target"].widget.attrs["class"] = "form-select"
        self.fields["product"].widget.attrs |= {"class": "form-control mono", "autocomplete": "off"}
        self.chosen: Target | None = None

    def offer(self) -> TargetForm:
        """The same with everything to choose from; only a page that shows the form asks for it."""
        categories = Category.objects.filter(is_listed=True).order_by("-type", "name")
        brands = Brand.objects.filter(is_listed=True).select_related("category").order_by("category__name", "name")
        choices = [
            ("", "–"),
            (_("Everything"), [("all:prepaid", _("Every product")), ("all:postpaid", _("Every bill"))]),
            (_("Category"), [(f"category:{one.pk}", one.name) for one in categories]),
            (_("Brand"), [(f"brand:{one.pk}", f"{one.category.name} · {one.name}") for one in brands]),
        ]
        self.fields["target"].widget = forms.Select(attrs=self.fields["target"].widget.attrs, choices=choices)
        return self

    def clean(self) -> dict[str, Any] | None:
        """Find the target: the product where one is named."""
        values = super().clean() or {}
        if code := values.get("product"):
            product = Product.objects.filter(code__iexact=code).first()
            if product is None:
                self.add_error("product", forms.ValidationError(_("No product has this code."), code="unknown"))
            else:
                self.chosen = Target(type=product.type, product=product)
        elif not self.errors:
            self.chosen = Target.find(values.get("target", ""))
            if self.chosen is None:
                self.add_error("target", forms.ValidationError(_("Choose what the rule is for."), code="required"))
        return values


class TermsForm(forms.Form):
    """How a rule makes the price; `terms` is None where it is to be ended."""

    kind = forms.ChoiceField(label=_("Price"))
    value = forms.CharField(label=_("How much"), max_length=20, required=False)
    round_to = forms.TypedChoiceField(
        label=_("Round up to"),
        coerce=int,
        required=False,
        choices=[(1, _("whole rupiah")), *((size, rupiah(size)) for size in ROUNDINGS if size > 1)],
    )

    def __init__(self, *args: Any, target: Target, has_rule: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.target = target
        kinds: list[tuple[str, Any]] = list(PriceRuleKind.choices)
        if target.is_bill:
            kinds = [(PriceRuleKind.PLUS.value, _("The shop's fee on top of the total"))]
            del self.fields["round_to"]
        if has_rule:
            kinds.append((END, _("No rule of its own: end this one")))
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        for name, field in self.fields.items():
            field.widget.attrs["class"] = "form-control" if name == "value" else "form-select"
        self.fields["value"].widget.attrs |= {
            "inputmode": "decimal",
            "autocomplete": "off",
            "aria-describedby": "value-hint",
        }
        self.terms: Terms | None = None

    def clean(self) -> dict[str, Any] | None:
        """Read the value by the kind: rupiah, or a percentage with two decimals."""
        values = super().clean() or {}
        kind = str(values.get("kind", ""))
        if self.errors or kind == END:
            return values
        try:
            value = (
                _hundredths(values["value"]) if kind == PriceRuleKind.PERCENT else self._rupiah(values["value"], kind)
            )
        except forms.ValidationError as error:
            self.add_error("value", error)
        else:
            self.terms = Terms(kind, value, values.get("round_to") or 1)
        return values

    def _rupiah(self, typed: str, kind: str) -> int:
        amount = RupiahField(least=1 if kind == PriceRuleKind.FIXED else 0).clean(typed)
        if amount > MOST_RUPIAH:
            raise forms.ValidationError(_("At most %(most)s.") % {"most": rupiah(MOST_RUPIAH)}, code="range")
        return int(amount)


def _hundredths(typed: str) -> int:
    """Hundredths of a percent as typed: "2,5" → 250."""
    found = _PERCENT.fullmatch(typed.strip())
    if not found:
        raise forms.ValidationError(_("Type a percentage, for example 2,5."), code="invalid")
    hundredths = int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))
    if hundredths > MOST_PERCENT:
        raise forms.ValidationError(_("At most 1.000%."), code="range")
    return hundredths


def typed_value(terms: Terms | None) -> str:
    """A rule's value as `TermsForm` reads it."""
    if terms is None:
        return ""
    if terms.kind == PriceRuleKind.PERCENT:
        return percent(terms.value)
    return f"{terms.value:,}".replace(",", ".")
