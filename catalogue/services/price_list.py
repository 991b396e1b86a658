"""The price list for customers: what the rules make of each product that can be sold, and never what it costs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from catalogue.models import Product
from catalogue.services.index import current_index


@dataclass(frozen=True)
class Price:
    """A line of the list: the product's name, and the rupiah that a customer pays."""

    name: str
    rupiah: int


@dataclass(frozen=True)
class PriceSection:
    """A brand within a category, with its prices in the counter's order. `brand`: its key."""

    brand: int
    name: str
    category: str
    prices: list[Price] = field(default_factory=list)


def read_price_sections(brands: Collection[int] | None = None) -> list[PriceSection]:
    """The sections in the order of the counter's tiles; `brands`: the keys of the wanted ones, None for all.

    The costs stay in the database: no page that shows the answer can show them.
    """
    place = {key: at for at, key in enumerate(current_index().keys)}
    products = Product.objects.in_price_list().order_by()
    if brands is not None:
        products = products.filter(brand__in=brands)
    rows = sorted(
        products.values_list("pk", "brand_id", "brand__name", "category__name", "name", "selling_price"),
        key=lambda row: place.get(row[0], len(place)),
    )
    sections: dict[int, PriceSection] = {}
    for _pk, brand, brand_name, category, name, pays in rows:
        section = sections.setdefault(brand, PriceSection(brand, brand_name, category))
        section.prices.extend([Price(name, pays)] if pays else [])
    return list(sections.values())
