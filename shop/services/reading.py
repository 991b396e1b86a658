"""Reads the shop's row; without a row, the name comes from the environment."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from shop.models import Shop, ShopHistory


def shop_question() -> QuerySet[Shop]:
    """The query for the shop, for `read_together`; `shop_of` takes its rows."""
    return Shop.objects.filter(only=True)


def shop_of(rows: Iterable[Shop]) -> Shop:
    """The shop in the rows of `shop_question`."""
    return next(iter(rows), None) or Shop(name=settings.SHOP_NAME)


def current_shop() -> Shop:
    """The present shop, without the content of its logo."""
    return shop_of(shop_question())


def shop_name() -> str:
    return current_shop().name


def shop_version() -> Any:
    """The shop's present state as a row of its history, which never changes; makes a missing row of the shop."""
    versions = ShopHistory.objects.filter(pgh_obj=True).order_by("-pgh_id")
    version = versions.first()
    if version is None:
        Shop.objects.get_or_create(only=True, defaults={"name": settings.SHOP_NAME})
        version = versions.get()
    return version
