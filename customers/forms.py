"""Forms about customers and their numbers."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.destinations import KINDS, DestinationKind, kind_called
from catalogue.models import Product, ProductType
from core.forms import SheetForm
from customers.models import Customer, SavedNumber
from customers.services import MOST_KILOBYTES, joined

_FIELD = {"class": "form-control", "autocomplete": "off"}


class CustomerForm(forms.ModelForm):  # type: ignore[type-arg]
    """A customer's name and a note."""

    class Meta:
        model = Customer
        fields = ["name", "note"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["note"].label = _("Note")
        self.fields["name"].widget.attrs |= {**_FIELD, "autofocus": True}
        self.fields["note"].widget.attrs |= _FIELD

    def clean_name(self) -> str:
        """The name, which no other customer may have: suggestions and "save this number" find people by it."""
        name: str = self.cleaned_data["name"]
        if Customer.objects.filter(name__iexact=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("There is a customer with this name already."), code="name_taken")
        return name


class SavedNumberForm(forms.Form):
    """A number, and what it is for: a biller, a product, or any product of a kind."""

    what = forms.ChoiceField(label=_("For"))
    destination = forms.CharField(max_length=64, strip=True, label=_("Number"))
    note = forms.CharField(max_length=120, strip=True, required=False, label=_("Note"))

    def __init__(
        self, *args: Any, product: Product | None = None, number: SavedNumber | None = None, **kw: Any
    ) -> None:
        """`product`: offered besides the billers, and chosen first. `number`: the number to change."""
        product = product or (number.product if number else None)
        if number:
            kw["initial"] = {
                "what": f"product:{number.product.code}" if number.product else f"kind:{number.kind.code}",
                "destination": number.destination,
                "note": number.note,
            }
        elif product:
            kw["initial"] = {"what": f"product:{product.code}", **kw.get("initial", {})}
        super().__init__(*args, **kw)
        self.fields["what"].choices = _choices(product)  # type: ignore[attr-defined]
        self.fields["what"].widget.attrs["class"] = "form-select"
        self.fields["destination"].widget.attrs |= {**_FIELD, "class": "form-control form-big", "inputmode": "text"}
        self.fields["note"].widget.attrs |= _FIELD

    def chosen(self) -> tuple[Product | None, DestinationKind]:
        """The purpose of the number: the product, if one was chosen, and the kind of its numbers."""
        group, _colon, value = self.cleaned_data["what"].partition(":")
        if group == "kind":
            return None, kind_called(value)
        product = Product.objects.select_related("brand", "category").get(code=value)
        return product, product.kind


def _choices(product: Product | None) -> list[tuple[Any, Any]]:
    choices: list[tuple[Any, Any]] = []
    if product and product.type == ProductType.PREPAID:
        choices.append((_("This product"), [(f"product:{product.code}", product.name)]))
    choices.append((_("Any product"), [(f"kind:{kind.code}", kind.name) for kind in KINDS.values()]))
    billers = Product.objects.filter(type=ProductType.POSTPAID).listed().select_related("category")
    if product and product.type == ProductType.POSTPAID:
        billers = billers | Product.objects.filter(pk=product.pk).select_related("category")
    by_category: dict[str, list[tuple[str, str]]] = {}
    for biller in billers.order_by("category__name", "name"):
        by_category.setdefault(biller.category.name, []).append((f"product:{biller.code}", biller.name))
    return choices + list(by_category.items())


class SaveThisForm(SavedNumberForm):
    """The same for the number of an order or a bill, with its customer's name."""

    customer = forms.CharField(max_length=120, strip=True, label=_("Customer"))
    field_order = ["customer", "what", "destination", "note"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["customer"].widget.attrs |= {**_FIELD, "autofocus": True, "list": "customer-names"}


class ImportForm(SheetForm):
    """A table of customers."""

    most_kilobytes = MOST_KILOBYTES
    too_large = _("The table is larger than %(n)s KB. Cut it into smaller files, and import one after the other.")
    rows_shown = 6


class MergeForm(forms.Form):
    """The choice between two names, and the note of both."""

    name = forms.ChoiceField(label=_("Name"), widget=forms.RadioSelect({"class": "form-check-input"}))
    note = forms.CharField(label=_("Note"), max_length=Customer.NOTE_LETTERS, strip=True, required=False)

    def __init__(self, data: Any, *, one: Customer, other: Customer) -> None:
        super().__init__(data, initial={"name": one.name, "note": joined(one.note, other.note)})
        names = dict.fromkeys([one.name, other.name])
        self.fields["name"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        self.fields["note"].widget.attrs |= _FIELD
