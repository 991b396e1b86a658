"""What narrows the catalogue and the price changes; it lives in the URL."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import django_filters
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from catalogue.models import Brand, PriceChange, ProductQuerySet
from core.filters import ListFilter, SearchFilter, SinceFilter, UntilFilter

_PHONE_LIKE = re.compile(r"(\+?62|0)\s?8[\d\s.\-]{4,}")


class ProductFilter(ListFilter):
    """Products by words, category and brand.

    `choice`: what was chosen, with the customer's number; "" where nothing was. `brands`: those of the chosen
    category; a brand of another one is left out.
    """

    q = SearchFilter(label=_("Product"))
    category = django_filters.CharFilter(field_name="category__code")
    brand = django_filters.CharFilter(field_name="brand__code")

    def __init__(self, query: QueryDict, *, queryset: ProductQuerySet) -> None:
        names = ("q", "category", "brand", "destination")
        self.choice = {name: query.get(name, "").strip()[:100] for name in names}
        if not self.choice["destination"] and _PHONE_LIKE.fullmatch(self.choice["q"]):
            # Cashiers type the number wherever the cursor stands.
            self.choice |= {"q": "", "destination": self.choice["q"]}
        self.brands = list(Brand.objects.sold_in(self.choice["category"])) if self.choice["category"] else []
        if self.choice["brand"] not in {brand.code for brand in self.brands}:
            self.choice["brand"] = ""
        super().__init__(self.choice, queryset=queryset)

    def search(self, products: ProductQuerySet, _name: str, text: str) -> ProductQuerySet:
        """Those that hold every word."""
        return products.matching(text)

    def url(self, path: str, **more: Any) -> str:
        """The address `path` for this choice and `more`; what is empty is left out."""
        values = {name: value for name, value in (self.choice | more).items() if value}
        return path + (f"?{urlencode(values)}" if values else "")


def brand_names() -> list[tuple[str, str]]:
    """Every brand that was ever in the catalogue, for a list's filter."""
    names = Brand.objects.values_list("name", flat=True).order_by("name").distinct()
    return [(name, name) for name in names]


class PriceChangeFilter(ListFilter):
    """Price changes by product, brand and day."""

    q = SearchFilter(label=_("Product name or code"))
    brand = django_filters.ChoiceFilter(
        field_name="product__brand__name", label=_("Brand"), empty_label=_("Every brand"), choices=brand_names
    )
    since = SinceFilter(field_name="at", label=_("From"))
    until = UntilFilter(field_name="at", label=_("To"))

    def search(self, changes: QuerySet[PriceChange], _name: str, text: str) -> QuerySet[PriceChange]:
        """Of products whose name holds `text`, or whose code begins so."""
        return changes.filter(Q(product__name__icontains=text) | Q(product__code__istartswith=text))
