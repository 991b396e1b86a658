"""The field for a destination, by kind of product; the form of a price rule."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import KINDS, DestinationKind, InvalidDestination
from catalogue.models import (
    MOST_PERCENT,
    MOST_RUPIAH,
    ROUNDINGS,
    Brand,
    Category,
    KindCorrection,
    PriceRuleKind,
    Product,
)
from catalogue.services.searching import read_products, search_products
from catalogue.services.targets import Target, in_several_categories
from catalogue.services.terms import AsNow, Terms, percent
from core.forms import RupiahField
from core.money import rupiah


class DestinationForm(forms.Form):
    """The customer's number, checked by its kind. `cleaned` is the destination as it will be sent."""

    destination = forms.CharField(max_length=64, strip=True)

    def __init__(self, *args: Any, product: Product, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = product.kind
        self.cleaned = ""
        self.fields["destination"].error_messages["required"] = _("Type the number first.")

    def clean_destination(self) -> str:
        """The number as it was typed, once its kind has checked it."""
        typed: str = self.cleaned_data["destination"]
        try:
            self.cleaned = self.kind.clean(typed)
        except InvalidDestination as error:
            raise forms.ValidationError(str(error), code="invalid") from error
        return typed


class KindForm(forms.Form):
    """The kind of a category's or a product's numbers; empty means the kind that the names say."""

    kind = forms.ChoiceField(label=_("Kind of number"), required=False)

    def __init__(self, *args: Any, target: Target, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [(kind.code, f"{kind.name} ({kind.placeholder})") for kind in KINDS.values()]
        self.fields["kind"].choices = [("", _("As its names say")), *kinds]  # type: ignore[attr-defined]
        self.fields["kind"].widget.attrs["class"] = "form-select"
        correction = KindCorrection.objects.filter(category=target.category, product=target.product).first()
        self.initial["kind"] = correction.kind.code if correction else ""

    @property
    def chosen(self) -> DestinationKind | None:
        """The chosen kind; None for the kind that the names say."""
        return KINDS.get(self.cleaned_data["kind"])


END, AS_NOW = "end", "as_now"
MOST_CANDIDATES = 12
_PERCENT = re.compile(r"(\d{1,4})(?:[.,](\d{1,2}))?\s*%?", re.ASCII)


class TargetForm(forms.Form):
    """The target of a rule: one of the broad ones, or a product by its name or code.

    `candidates`: the products that fit a name, if no single one does.
    """

    target = forms.CharField(label=_("For"), max_length=40, required=False, widget=forms.Select)
    product = forms.CharField(label=_("or one product: its name or code"), max_length=100, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["target"].widget.attrs["class"] = "form-select"
        self.fields["product"].widget.attrs |= {"class": "form-control", "autocomplete": "off"}
        self.chosen: Target | None = None
        self.candidates: list[Product] = []

    def offer(self) -> TargetForm:
        """This form with all its choices; only a page that shows the form needs them."""
        categories = Category.objects.filter(is_listed=True).order_by("-type", "name")
        brands = Brand.objects.filter(is_listed=True).select_related("category").order_by("category__name", "name")
        choices = [
            ("", "–"),
            (_("Everything"), [("all:prepaid", _("Every product")), ("all:postpaid", _("Every bill"))]),
            (_("Category"), [(f"category:{category.pk}", category.name) for category in categories]),
            (_("Brand in all its categories"), [(target.key, target.words) for target in in_several_categories()]),
            (_("Brand"), [(f"brand:{brand.pk}", f"{brand.category.name} · {brand.name}") for brand in brands]),
        ]
        self.fields["target"].widget = forms.Select(attrs=self.fields["target"].widget.attrs, choices=choices)
        return self

    def clean(self) -> dict[str, Any] | None:
        """Find the target; a named product counts before a broad target."""
        values = super().clean() or {}
        if text := values.get("product"):
            self._choose_product(text)
        elif not self.errors:
            self.chosen = Target.find(values.get("target", ""))
            if self.chosen is None:
                self.add_error("target", forms.ValidationError(_("Choose what the rule is for."), code="required"))
        return values

    def _choose_product(self, text: str) -> None:
        product = Product.objects.filter(code__iexact=text).first()
        if product is None:
            matches = search_products(text)
            is_one = len(matches.keys) == 1 or (matches.is_exact and not matches.alike)
            found = read_products(matches.keys[: 1 if is_one else MOST_CANDIDATES])
            product, self.candidates = (found[0], []) if is_one and found else (None, found)
        if product:
            self.chosen = Target(type=product.type, product=product)
        elif self.candidates:
            self.add_error("product", forms.ValidationError(_("Several products fit. Choose one."), code="several"))
        else:
            self.add_error("product", forms.ValidationError(_("No product has this name or code."), code="unknown"))


class TermsForm(forms.Form):
    """The terms of a rule; `terms` is None when the rule has to be ended.

    Only a percentage has `at_least`, and `AS_NOW`, which is offered for a brand in several categories.
    """

    kind = forms.ChoiceField(label=_("Price"))
    value = forms.CharField(label=_("How much"), max_length=20, required=False)
    at_least = forms.CharField(label=_("Every product earns at least (Rp)"), max_length=20, required=False)
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
            del self.fields["round_to"], self.fields["at_least"]
        elif target.product:
            self.fields["at_least"].label = _("Earns at least (Rp)")
        elif target.also:
            kinds.insert(0, (AS_NOW, _("As now, but at least…")))
        if has_rule:
            kinds.append((END, _("No rule of its own: end this one")))
        self.fields["kind"].choices = kinds  # type: ignore[attr-defined]
        for name, field in self.fields.items():
            if name in {"kind", "round_to"}:
                field.widget.attrs["class"] = "form-select"
                continue
            field.widget.attrs |= {
                "class": "form-control",
                "inputmode": "decimal",
                "autocomplete": "off",
                "aria-describedby": f"{name}-hint",
            }
        self.terms: Terms | AsNow | None = None

    def begin_with(self, first: dict[str, Any]) -> None:
        """Show these terms, with the cursor where the amount is typed."""
        self.initial = first
        least = first["kind"] in {AS_NOW, PriceRuleKind.PERCENT} and "at_least" in self.fields
        self.fields["at_least" if least else "value"].widget.attrs["autofocus"] = True

    def clean(self) -> dict[str, Any] | None:
        """Read the amounts by kind: rupiah, or a percentage (two decimals) and the rupiah that it adds at least."""
        values = super().clean() or {}
        kind = str(values.get("kind", ""))
        if self.errors or kind == END:
            return values
        has_least = kind == AS_NOW or (kind == PriceRuleKind.PERCENT and values["at_least"])
        value = 0 if kind == AS_NOW else self._read("value", kind)
        at_least = self._read("at_least", kind) if has_least else 0
        if not self.errors:
            terms = Terms(kind, value, values.get("round_to") or 1, at_least)
            self.terms = AsNow(at_least) if kind == AS_NOW else terms
        return values

    def _read(self, name: str, kind: str) -> int:
        """The amount of this field; 0, with an error added to it, when it cannot be read."""
        typed = self.cleaned_data[name]
        try:
            if name == "value" and kind == PriceRuleKind.PERCENT:
                return _hundredths(typed)
            return _rupiah(typed, least=1 if kind in {PriceRuleKind.FIXED, AS_NOW} else 0)
        except forms.ValidationError as error:
            self.add_error(name, error)
            return 0


def _rupiah(typed: str, *, least: int) -> int:
    amount = RupiahField(least=least).clean(typed)
    if amount > MOST_RUPIAH:
        raise forms.ValidationError(_("At most %(most)s.") % {"most": rupiah(MOST_RUPIAH)}, code="range")
    return int(amount)


def _hundredths(typed: str) -> int:
    """A typed percentage in hundredths of a percent: "2,5" → 250."""
    match = _PERCENT.fullmatch(typed.strip())
    if not match:
        raise forms.ValidationError(_("Type a percentage, for example 2,5."), code="invalid")
    hundredths = int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))
    if hundredths > MOST_PERCENT:
        raise forms.ValidationError(_("At most 1.000%."), code="range")
    return hundredths


def typed_terms(terms: Terms) -> dict[str, Any]:
    """These terms as people type them into `TermsForm`."""
    return {
        "kind": terms.kind,
        "value": percent(terms.value) if terms.kind == PriceRuleKind.PERCENT else _dotted(terms.value),
        "at_least": _dotted(terms.at_least) if terms.at_least else "",
        "round_to": terms.round_to,
    }


def _dotted(amount: int) -> str:
    return f"{amount:,}".replace(",", ".")
