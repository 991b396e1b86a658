"""The filters of the catalogue and of the price changes; they live in the URL."""

from typing import Any
from urllib.parse import urlencode

import django_filters
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from catalogue.models import Brand, Category, PriceChange
from catalogue.operators import Operator
from catalogue.services import Found, search_products
from core.filters import ListFilter, SearchFilter, SinceFilter, UntilFilter
from core.notation import split_number


class ProductChoice:
    """The filters of the catalogue: words, category, brand and the customer's number; "" if nothing was chosen.

    `brands`: the brands of the chosen category; a chosen brand of another category is ignored.
    """

    def __init__(self, query: QueryDict) -> None:
        names = ("q", "category", "brand", "destination")
        self.chosen = {name: query.get(name, "").strip()[:100] for name in names}
        # Cashiers type the number wherever the cursor is.
        number, words = split_number(self.chosen["q"])
        if number:
            self.chosen |= {"destination": number, "q": words}
        self.brands = list(Brand.objects.sold_in(self.chosen["category"])) if self.chosen["category"] else []
        if self.chosen["brand"] not in {brand.code for brand in self.brands}:
            self.chosen["brand"] = ""

    def find(self, *, operator: Operator | None = None) -> Found:
        """The products that match, best first; with an operator only that operator's."""
        narrow = {name: self.chosen[name] for name in ("category", "brand")}
        return search_products(self.chosen["q"], operator=operator, **narrow)

    def url(self, path: str, **more: Any) -> str:
        """The address `path` for this choice and `more`, without the empty parts."""
        values = {name: value for name, value in (self.chosen | more).items() if value}
        return path + (f"?{urlencode(values)}" if values else "")


def brand_names() -> list[tuple[str, str]]:
    """Every brand that was ever in the catalogue, for a list's filter."""
    names = Brand.objects.values_list("name", flat=True).order_by("name").distinct()
    return [(name, name) for name in names]


def category_names() -> list[tuple[str, str]]:
    """Every category by its code, for a list's filter."""
    return list(Category.objects.order_by("name").values_list("code", "name"))


class PriceChangeFilter(ListFilter):
    """Price changes by product, brand and day."""

    q = SearchFilter(label=_("Product name or code"))
    brand = django_filters.ChoiceFilter(
        field_name="product__brand__name", label=_("Brand"), empty_label=_("Every brand"), choices=brand_names
    )
    since = SinceFilter(field_name="at", label=_("From"))
    until = UntilFilter(field_name="at", label=_("To"))

    def search(self, changes: QuerySet[PriceChange], _name: str, text: str) -> QuerySet[PriceChange]:
        """The changes of products whose name holds `text`, or whose code begins with it."""
        return changes.filter(Q(product__name__icontains=text) | Q(product__code__istartswith=text))
