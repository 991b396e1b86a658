"""The shop as receipts and pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from branches.models import Branch
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
    def of(cls, shop: Shop | Any, branch: Branch | Any = None) -> Letterhead:
        """The head of the shop, and of the branch if the shop has several; both may be rows of the history."""
        address, phone, footer = (
            (branch and getattr(branch, name)) or getattr(shop, name) for name in ("address", "phone", "footer")
        )
        return cls(
            name=shop.name,
            address=(*([branch.name] if branch and branch.name != shop.name else []), *address.splitlines()),
            phone=phone,
            footer=tuple(footer.splitlines()),
            logo=reverse("shop_logo", args=[shop.logo_id]) if shop.logo_id else "",
            language=shop.language,
        )
