"""Forms about customers' credit: the customer, cap and due date, payments."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from core.forms import DayField, OnceField, RupiahField, SumForm
from credit.methods import money_choices
from credit.models import MOST_DUE_DAYS
from customers.models import Customer

_LINE = {"class": "form-control", "autocomplete": "off"}
_DIGITS = {**_LINE, "inputmode": "numeric"}
# At most this many names are offered while somebody types; any other name must be typed in full.
_OFFERED = 300
# At most this many names are suggested when only a part of one was typed.
MOST_ALIKE = 4


def on_credit() -> QuerySet[Customer]:
    """The customers who may buy on credit, by name."""
    return Customer.objects.filter(credit__cap__gt=0).order_by("name")


def offered_customers() -> QuerySet[Customer]:
    """The first of these customers: at most as many as a field offers."""
    return on_credit()[:_OFFERED]


class CustomerInput(forms.TextInput):
    """A name; the browser itself offers the customers who may buy on credit."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The field and its list of names."""
        names_id = f"{(attrs or {}).get('id', name)}-names"
        field = super().render(name, value, {**(attrs or {}), "list": names_id}, renderer)
        options = format_html_join("", '<option value="{}"></option>', offered_customers().values_list("name"))
        return format_html('{}<datalist id="{}">{}</datalist>', field, names_id, options)


class CreditCustomerField(forms.CharField):
    """The name of a customer who has a credit account; becomes the `Customer`, or None when nothing was typed."""

    default_error_messages = {
        "unknown": _("No customer of this name may buy on credit. Allow it first on the customer's page, under “Tab”."),
        "alike": _("No customer has just this name. Do you mean: %(names)s?"),
        "twins": _("Several customers with an account are called %(name)s. Rename one of them, or merge them, first."),
    }

    def __init__(self, **kwargs: Any) -> None:
        facts = {"label": _("Customer (on credit)"), "required": False, "max_length": 120}
        super().__init__(**{**facts, "widget": CustomerInput(_LINE), **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return value.name if isinstance(value, Customer) else value

    def clean(self, value: Any) -> Any:
        """The only customer of this name; case does not count. A part of a name is not enough for a debt."""
        name = super().clean(value)
        if not name:
            return None
        customer, *twins = [*Customer.objects.filter(name__iexact=name, credit__isnull=False)[:2]] or [None]
        if twins:
            raise forms.ValidationError(self.error_messages["twins"], code="twins", params={"name": name})
        alike = [] if customer else list(on_credit().filter(name__icontains=name).values_list("name")[:MOST_ALIKE])
        if alike:
            names = ", ".join(other for (other,) in alike)
            raise forms.ValidationError(self.error_messages["alike"], code="alike", params={"names": names})
        if customer is None:
            raise forms.ValidationError(self.error_messages["unknown"], code="unknown")
        return customer


class TermsForm(forms.Form):
    """The cap of a customer's credit, and the due date."""

    cap = RupiahField(label=_("Cap"), least=0, widget=forms.TextInput(_DIGITS))
    due_days = forms.IntegerField(
        label=_("Due after so many days"),
        min_value=0,
        max_value=MOST_DUE_DAYS,
        initial=14,
        widget=forms.NumberInput(_DIGITS),
    )
    due_on = DayField(label=_("Or due on this day"), required=False)


class CreditPaymentForm(SumForm):
    """A customer's payment of a debt: the amount, and the way to pay."""

    method = forms.ChoiceField(
        label=_("Paid by"),
        choices=money_choices,
        widget=forms.Select({"class": "form-select"}),
    )
    note = forms.CharField(
        label=_("Number on the slip (card), or a note"), required=False, max_length=500, widget=forms.TextInput(_LINE)
    )


class CreditPayoutForm(SumForm):
    """A payout of money that the shop owes a customer: the amount, and the way."""

    method = forms.ChoiceField(
        label=_("Paid out by"),
        choices=money_choices,
        widget=forms.Select({"class": "form-select"}),
    )
    reason = forms.CharField(
        label=_("Number on the slip (card), or why"), required=False, max_length=500, widget=forms.TextInput(_LINE)
    )


class ReasonForm(forms.Form):
    """The reason why a payment is undone."""

    reason = forms.CharField(label=_("Why"), max_length=500, widget=forms.TextInput(_LINE))


class BroughtForm(forms.Form):
    """A debt from before the account began."""

    amount = RupiahField(label=_("Amount"), widget=forms.TextInput(_DIGITS))
    reason = forms.CharField(label=_("Where it stands"), max_length=500, widget=forms.TextInput(_LINE))
    token = OnceField()
