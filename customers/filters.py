"""The search of the customers' list; it lives in the URL."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from core.filters import ListFilter, SearchFilter
from core.numbers import sees_whole_numbers
from customers.models import CustomerQuerySet


class CustomerFilter(ListFilter):
    """Customers by a part of the name or note, or by the beginning of a number."""

    q = SearchFilter(label=_("Name or number"))

    def search(self, customers: CustomerQuerySet, _name: str, text: str) -> CustomerQuerySet:
        """All customers whom `text` may mean."""
        return customers.matching(text, by_part=sees_whole_numbers())
