"""The sandbox's catalogue as the search reads it, without a database."""

from functools import cache

from catalogue.destinations import CUSTOMER, kind_of_category, kind_of_own_names
from catalogue.operators import operator_of
from catalogue.services.index import Index, Product, Row, describe
from catalogue.services.searching import search_index
from core.notation import split_number
from sandbox.catalogue_tables import CATEGORIES
from sandbox.offers import brand_code, offers

_CATEGORIES = {code: (name, kind) for code, name, kind in CATEGORIES}


@cache
def shelf() -> Index:
    return Index(
        Row(key, 0, 0, describe(_names(offer), offer.price, _number_kind(_names(offer))))
        for key, offer in enumerate(offers())
    )


def _number_kind(names: tuple[str, ...]) -> str:
    code, name, type_, brand, brand_name, category, its_name = names
    own = kind_of_own_names(f"{code} {name}", f"{brand} {brand_name}")
    return str(own or kind_of_category(f"{category} {its_name}", is_bill=type_ == "postpaid") or CUSTOMER)


def _names(offer) -> tuple[str, ...]:
    category, kind = _CATEGORIES[offer.category]
    brand = brand_code(offer.category, offer.brand)
    return offer.code, offer.name, kind, brand, offer.brand, offer.category, category


def products_for(text: str, **narrowed) -> list[Product]:
    """The products that the page lists for the text of its field."""
    number, words = split_number(text)
    index = shelf()
    keys = search_index(index, words, operator=operator_of(number) if number else None, **narrowed).keys
    by_key = dict(zip(index.keys, index.products, strict=True))
    return [by_key[key] for key in keys]
