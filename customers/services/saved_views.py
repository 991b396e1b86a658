"""Saved views of lists that name a customer: they follow a merge, and go with the customer who is erased."""

from collections.abc import Collection, Iterator
from urllib.parse import parse_qsl, urlencode

from django.db.models import Q

from core.numbers import without
from exports.models import SavedView

# The filters whose value is the key of a customer.
_KEYS = ("customer", "buyer")


def move_views(gone: int, kept: int) -> None:
    """Let the saved views of the merged customer show the one who stays."""
    for view, filters in _views_of(gone):
        moved = [(name, str(kept) if name in _KEYS and value == str(gone) else value) for name, value in filters]
        view.query = urlencode(moved)
        view.save(update_fields=["query"])


def forget_views(customer: int, numbers: Collection[str]) -> None:
    """Delete the saved views of this customer, and those that look for one of these numbers or are called by it."""
    gone = [view.pk for view, _filters in _views_of(customer)]
    if numbers:
        for view in SavedView.objects.exclude(name=""):
            texts = [view.name, *(value for _name, value in parse_qsl(view.query))]
            gone += [view.pk] if any(without(text, numbers) != text for text in texts) else []
    SavedView.objects.filter(pk__in=gone).delete()


def _views_of(customer: int) -> Iterator[tuple[SavedView, list[tuple[str, str]]]]:
    """The views with this customer's key among their filters, each with its filters."""
    named = [Q(query__contains=f"{name}={customer}") for name in _KEYS]
    for view in SavedView.objects.filter(named[0] | named[1]).order_by("pk"):
        filters = parse_qsl(view.query)
        if any((name, str(customer)) in filters for name in _KEYS):
            yield view, filters
