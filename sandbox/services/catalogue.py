"""Writes the products from the offers, checks them before a sale, and changes them for a person."""

import re
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox.catalogue_tables import CATEGORIES
from sandbox.errors import ApiError, ErrorCode, NotPossible
from sandbox.models import Brand, Category, Product
from sandbox.offers import Offer, brand_code, offers

PHONE = re.compile(r"(?:\+?62|0)8\d{7,12}")
METER = re.compile(r"\d{11,12}")
ANY_DESTINATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._|()@+/#:-]{3,49}")
CHANGEABLE = ("price", "risen_price", "status", "delisted", "cut_off_start", "cut_off_end")
DESTINATIONS = {"pulsa": PHONE, "paket-data": PHONE, "sms-telepon": PHONE, "token-pln": METER}


@transaction.atomic
def load() -> int:
    """Write the whole catalogue into empty tables; returns the number of products."""
    offered = offers()
    categories = {
        code: Category.objects.create(code=code, name=name, type=kind, position=position)
        for position, (code, name, kind) in enumerate(CATEGORIES)
    }
    brands = {
        key: Brand.objects.create(code=brand_code(*key), name=key[1], category=categories[key[0]], position=position)
        for position, key in enumerate(dict.fromkeys((offer.category, offer.brand) for offer in offered))
    }
    Product.objects.bulk_create(
        Product(
            product_code=offer.code,
            product_name=offer.name,
            brand=brands[offer.category, offer.brand],
            admin_fee=offer.admin_fee,
            description=offer.description,
            position=position,
            **_changeable(offer),
        )
        for position, offer in enumerate(offered)
    )
    return len(offered)


def restore() -> None:
    """Undo every change made to the products."""
    originals = {offer.code: _changeable(offer) for offer in offers()}
    for row in Product.objects.values("product_code", *CHANGEABLE):
        product_code = row.pop("product_code")
        if row != originals[product_code]:
            change(product_code, **originals[product_code])


def _changeable(offer: Offer) -> dict[str, Any]:
    """The offer's values of the fields that a person or a scenario can change."""
    cut_off = (offer.cut_off if settings.SANDBOX_CUT_OFF else None) or (None, None)
    return dict(zip(CHANGEABLE, (offer.price, None, "active", False, *cut_off), strict=True))


def change(product_code: str, **changes: Any) -> None:
    """Change the fields of a product. A new price ends a risen one. Raises NotPossible if there is no such product."""
    if "price" in changes:
        changes["risen_price"] = None
    if not Product.objects.filter(product_code=product_code).update(**changes):
        raise NotPossible("there is no such product")


def sellable(product_code: str, kind: str) -> Product:
    """The product of this type ("prepaid" or "postpaid"), if it can be sold right now.

    Raises ApiError: PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF.
    """
    products = Product.objects.select_related("brand__category").filter(delisted=False, brand__category__type=kind)
    product = products.filter(product_code=product_code).first()
    if product is None:
        raise ApiError(ErrorCode.PRODUCT_NOT_FOUND)
    if product.status != "active":
        raise ApiError(ErrorCode.PRODUCT_UNAVAILABLE)
    if product.is_cut_off(timezone.now()):
        raise ApiError(ErrorCode.CUT_OFF)
    return product


def check_destination(product: Product, destination: str) -> None:
    """Raise ApiError INVALID_DESTINATION unless the destination is possible in this product's category."""
    if not DESTINATIONS.get(product.brand.category.code, ANY_DESTINATION).fullmatch(destination):
        raise ApiError(ErrorCode.INVALID_DESTINATION)
