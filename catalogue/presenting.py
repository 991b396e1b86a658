"""The parts of the catalogue's pages besides the products."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from django.template.loader import render_to_string

from catalogue.destinations import PHONE
from catalogue.operators import Operator, operator_of
from catalogue.services.price_list import PriceSection
from core.customer_texts import plain_lines, whatsapp_link
from shop.presenting import Letterhead

# Browsers and phones open longer addresses in part, or not at all.
_LONGEST_ADDRESS = 6_000


@dataclass(frozen=True)
class Phone:
    """The customer's number as typed, and the facts that follow from it: `number` is "" while it is incomplete."""

    typed: str
    number: str
    shown: str
    operator: Operator | None

    @classmethod
    def read(cls, typed: str) -> Phone:
        """Recognise a number in any notation."""
        number = PHONE.read(typed)
        return cls(typed=typed, number=number, shown=PHONE.shown(number), operator=operator_of(typed))


@dataclass(frozen=True)
class BrandChoice:
    """A brand that can be ticked, with the number of its prices."""

    key: int
    name: str
    count: int
    is_chosen: bool


@dataclass(frozen=True)
class CategoryChoice:
    """A category with its brands."""

    name: str
    brands: list[BrandChoice]

    @property
    def chosen_count(self) -> int:
        """The number of its ticked brands."""
        return sum(brand.is_chosen for brand in self.brands)


def categories_of(sections: Iterable[PriceSection], chosen: Collection[int]) -> list[CategoryChoice]:
    """The categories and brands that can be chosen for a price list, in its order."""
    return [
        CategoryChoice(
            name,
            [
                BrandChoice(section.brand, section.name, len(section.prices), section.brand in chosen)
                for section in of_category
            ],
        )
        for name, of_category in groupby(sections, key=lambda section: section.category)
    ]


@dataclass(frozen=True)
class PriceText:
    """The prices of a brand as a text for customers. `address` opens it in WhatsApp; "" if it would be too long."""

    section: PriceSection
    text: str
    address: str


def price_text(section: PriceSection, head: Letterhead, at: dt.datetime) -> PriceText:
    """The text: brand, a line for each price, and the time of the prices."""
    written = render_to_string("catalogue/price_text.txt", {"section": section, "head": head, "at": at})
    text = plain_lines(written)
    address = whatsapp_link(text)
    return PriceText(section, text, address if len(address) <= _LONGEST_ADDRESS else "")
