"""The catalogue in the database: `load()` writes it, and restores it, from the offers."""

from datetime import time

from django.db import transaction

from sandbox import catalogue_tables as tables
from sandbox.models import Brand, Category, Product
from sandbox.offers import brand_code, offers


def _clock(text: str | None) -> time | None:
    return time.fromisoformat(text) if text else None


@transaction.atomic
def load() -> int:
    """Write the whole catalogue, undoing every change made to it since; returns the number of products."""
    categories: dict[str, Category] = {}
    for position, (code, name, kind) in enumerate(tables.CATEGORIES):
        categories[code], _ = Category.objects.update_or_create(
            code=code, defaults={"name": name, "type": kind, "position": position}
        )
    listed = offers()
    names = dict.fromkeys((offer.category, offer.brand) for offer in listed)
    Brand.objects.bulk_create(
        [
            Brand(code=brand_code(category, brand), name=brand, category=categories[category], position=position)
            for position, (category, brand) in enumerate(names)
        ],
        update_conflicts=True,
        unique_fields=["code"],
        update_fields=["name", "category", "position"],
    )
    brands = {brand.code: brand for brand in Brand.objects.all()}
    products = [
        Product(
            product_code=offer.code,
            product_name=offer.name,
            brand=brands[brand_code(offer.category, offer.brand)],
            price=offer.price,
            admin_fee=offer.admin_fee,
            description=offer.description,
            cut_off_start=_clock(offer.cut_off[0] if offer.cut_off else None),
            cut_off_end=_clock(offer.cut_off[1] if offer.cut_off else None),
            position=position,
        )
        for position, offer in enumerate(listed)
    ]
    Product.objects.bulk_create(
        products,
        update_conflicts=True,
        unique_fields=["product_code"],
        update_fields=[
            "product_name",
            "brand",
            "price",
            "admin_fee",
            "status",
            "description",
            "cut_off_start",
            "cut_off_end",
            "position",
            "vanished",
        ],
    )
    return len(products)
