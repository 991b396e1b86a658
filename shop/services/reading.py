"""Reads the shop's row; before there is one, the environment's name counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from shop.models import Shop, ShopHistory


def shop_question() -> QuerySet[Shop]:
    """For `read_together`; `shop_of` understands the answer."""
    return Shop.objects.filter(only=True)


def shop_of(rows: Iterable[Shop]) -> Shop:
    """The shop, of the rows that `shop_question` has found."""
    return next(iter(rows), None) or Shop(name=settings.SHOP_NAME)


def current_shop() -> Shop:
    """The shop as it is now, without the content of its logo."""
    return shop_of(shop_question())


def shop_name() -> str:
    return current_shop().name


def shop_version() -> Any:
    """The shop as it is now, as the row of its history that stays so. It makes the row if there is none yet."""
    versions = ShopHistory.objects.filter(pgh_obj=True).order_by("-pgh_id")
    version = versions.first()
    if version is None:
        Shop.objects.get_or_create(only=True, defaults={"name": settings.SHOP_NAME})
        version = versions.get()
    return version
