"""The shop as receipts and pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse

if TYPE_CHECKING:
    from shop.models import Shop


@dataclass(frozen=True)
class Letterhead:
    """The shop's facts on a receipt. `language`: "" for the viewer's language."""

    name: str
    address: tuple[str, ...] = ()
    phone: str = ""
    footer: tuple[str, ...] = ()
    logo: str = ""
    language: str = ""

    @classmethod
    def of(cls, shop: Shop | Any) -> Letterhead:
        """The head of the shop now, or of a row of its history."""
        return cls(
            name=shop.name,
            address=tuple(shop.address.splitlines()),
            phone=shop.phone,
            footer=tuple(shop.footer.splitlines()),
            logo=reverse("shop_logo", args=[shop.logo_id]) if shop.logo_id else "",
            language=shop.language,
        )
