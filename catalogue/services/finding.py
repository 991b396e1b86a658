"""Finds one product, with what its brand and category are called, by plain SQL: every click asks for it."""

from __future__ import annotations

from catalogue.models import Brand, Category, Product
from core.bulk import read_rows

_NAMES = "(SELECT ARRAY[code, name] FROM {} WHERE id = {})"
_BRAND = _NAMES.format("catalogue_brand", "brand_id")
_CATEGORY = _NAMES.format("catalogue_category", "catalogue_product.category_id")


def find_product(code: str, product_type: str) -> Product | None:
    """The product with this code, if it is of this type, with the names and codes of its brand and category."""
    where = "WHERE code = %s AND type = %s"
    for product in read_rows(Product, where, [code, product_type], of_brand=_BRAND, of_category=_CATEGORY):
        alias, said = product._state.db, product.__dict__
        names = ["id", "code", "name"]
        product.brand = Brand.from_db(alias, names, [product.brand_id, *said.pop("of_brand")])
        product.category = Category.from_db(alias, names, [product.category_id, *said.pop("of_category")])
        return product
    return None
