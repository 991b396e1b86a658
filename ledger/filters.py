"""The filters of the statement; they live in the URL, and files for spreadsheets use them, too."""

import django_filters
from django.utils.translation import gettext_lazy as _

from core.filters import ListFilter, SearchFilter, SinceFilter, UntilFilter
from ledger.models import Entry, EntryQuerySet, OrderKind

MONEY = "money"
PURCHASES, BILLS = (f"{Entry.Kind.DEBIT}:{kind}" for kind in (OrderKind.PURCHASE, OrderKind.BILL))


class StatementFilter(ListFilter):
    """Narrow the entries by day, kind and order."""

    q = SearchFilter(label=_("ref_id"), max_length=64)
    kind = django_filters.ChoiceFilter(
        method="of_kind",
        label=_("Kind"),
        empty_label=_("Every entry"),
        choices=[
            (MONEY, _("Without reservations")),
            *Entry.Kind.choices,
            (PURCHASES, _("Debit: purchases")),
            (BILLS, _("Debit: bill payments")),
        ],
    )
    since = SinceFilter(field_name="at", label=_("From"))
    until = UntilFilter(field_name="at", label=_("To"))

    def search(self, entries: EntryQuerySet, _name: str, text: str) -> EntryQuerySet:
        """The entries of one order; people may type its ref_id in small letters."""
        return entries.filter(ref_id=text.upper())

    def of_kind(self, entries: EntryQuerySet, _name: str, kind: str) -> EntryQuerySet:
        """The entries of a kind, of a kind for one sort of orders, or those that move money."""
        if kind == MONEY:
            return entries.exclude(balance_change=0)
        kind, _colon, order_kind = kind.partition(":")
        of_this_kind = entries.filter(kind=kind)
        return of_this_kind.filter(order_kind=order_kind) if order_kind else of_this_kind
