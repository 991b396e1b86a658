"""What narrows the statement; it lives in the URL, and the files for spreadsheets keep to it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from balance import services
from balance.models import Entry, OrderKind
from balance.models.ledger import EntryQuerySet

MONEY = "money"
PURCHASES, BILLS = (f"{Entry.Kind.DEBIT}:{kind}" for kind in (OrderKind.PURCHASE, OrderKind.BILL))


class DayField(forms.DateField):
    """A day of the shop (Asia/Jakarta), as `services.shop_day` reads it."""

    widget = forms.DateInput(attrs={"type": "date", "class": "form-control"})

    def to_python(self, value: Any) -> dt.date | None:
        """The day; None when nothing was chosen."""
        if not value:
            return None
        try:
            return services.shop_day(str(value))
        except ValueError as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error


class StatementFilter(forms.Form):
    """Narrow the entries by day, kind and order."""

    q = forms.CharField(label=_("ref_id"), max_length=64, required=False)
    kind = forms.ChoiceField(
        label=_("Kind"),
        required=False,
        choices=[
            ("", _("Every entry")),
            (MONEY, _("Without holds")),
            *Entry.Kind.choices,
            (PURCHASES, _("Debit: purchases")),
            (BILLS, _("Debit: bill payments")),
        ],
        widget=forms.Select(attrs={"class": "form-select"}),
    )
    since = DayField(label=_("From"), required=False)
    until = DayField(label=_("To"), required=False)

    def entries(self) -> EntryQuerySet:
        """What is left, oldest first. A filter that makes no sense is left out; `is_valid` tells."""
        self.full_clean()
        asked = self.cleaned_data
        kind, _colon, order_kind = asked.get("kind", "").partition(":")
        return services.statement(
            first=asked.get("since"),
            last=asked.get("until"),
            kinds=[kind] if kind not in {"", MONEY} else [],
            order_kind=order_kind,
            # As we write them; people type as they like.
            ref_id=asked.get("q", "").upper(),
            with_holds=kind != MONEY,
        )

    def faults(self) -> str:
        """What makes no sense, in a sentence for each field."""
        return " ".join(f"{self[name].label}: {errors[0]}" for name, errors in self.errors.items())
