"""Finds one product, with what belongs to it, by plain SQL: every click asks for it."""

from __future__ import annotations

import json
from typing import Any

from catalogue.models import Brand, Category, Product, ProductHealth
from core.bulk import read_rows

_NAMES = "(SELECT ARRAY[code, name] FROM {} WHERE id = {})"
_BRAND = _NAMES.format("catalogue_brand", "brand_id")
_CATEGORY = _NAMES.format("catalogue_category", "catalogue_product.category_id")

_HEALTH = "(SELECT to_jsonb(one) FROM catalogue_producthealth one WHERE one.product_id = catalogue_product.id)"
_MORE = {"of_brand": _BRAND, "of_category": _CATEGORY, "of_health": _HEALTH}


def find_product(code: str, product_type: str) -> Product | None:
    """The product with this code, if it is of this type: with its health, and names and codes of what it belongs to."""
    where = "WHERE code = %s AND type = %s"
    for product in read_rows(Product, where, [code, product_type], **_MORE):
        alias, columns = product._state.db, product.__dict__
        names = ["id", "code", "name"]
        product.brand = Brand.from_db(alias, names, [product.brand_id, *columns.pop("of_brand")])
        product.category = Category.from_db(alias, names, [product.category_id, *columns.pop("of_category")])
        health = columns.pop("of_health")
        product._state.fields_cache["health"] = _health(json.loads(health)) if health else None
        return product
    return None


def _health(health_columns: dict[str, Any]) -> ProductHealth:
    """The row that PostgreSQL wrote as JSON."""
    columns = [field for field in ProductHealth._meta.concrete_fields if field.attname in health_columns]
    return ProductHealth(**{field.attname: field.to_python(health_columns[field.attname]) for field in columns})
