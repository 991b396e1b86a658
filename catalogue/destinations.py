"""Destinations by kind of product: checked, normalised, and shown as people read them aloud.

The upstream's document says nothing about destinations but "target of the purchase"; the rules here are the field's.
They are kept wide: the upstream has the last word with INVALID_DESTINATION.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext_lazy as _

from catalogue.errors import InvalidDestination
from catalogue.models import Product


class DestinationKind(models.TextChoices):
    """What a destination is."""

    PHONE = "phone", _("Phone number")
    METER = "meter", _("Electricity meter")
    CARD = "card", _("Wallet or card")
    GAME = "game", _("Game account")
    GAME_ZONE = "game_zone", _("Game account with zone")
    CUSTOMER = "customer", _("Other customer number")


# Words in the product, in its brand and then in its category tell what its destination is; the first hit counts.
_PRODUCT_WORDS = [(DestinationKind.CUSTOMER, ("non-taglis", "nontaglis", "non taglis", "nontag"))]
_BRAND_WORDS = [(DestinationKind.GAME_ZONE, ("mobile legends", "mobile_legends", "mobilelegend", "magic chess"))]
_CATEGORY_WORDS = [
    (DestinationKind.METER, ("token", "pln", "listrik")),
    (DestinationKind.GAME, ("game", "gim")),
    (DestinationKind.CARD, ("money", "wallet", "emoney", "e-toll", "uang")),
    (DestinationKind.PHONE, ("pulsa", "data", "phone", "telepon", "sms", "roaming", "masa aktif", "masa_aktif")),
    (DestinationKind.PHONE, ("hp-pasca", "hp pasca", "seluler")),
]
_PHONE = r"08\d{8,11}"
_LEAST_DIGITS = 10
_LONGEST_GROUP = 4
# A number that is being typed: enough of it to know the operator. No denomination begins so.
_BEGINS_A_NUMBER = re.compile(r"\+62[.-]?8|62[.-]?8\d\d|08\d\d")
_COUNTRY_APART = re.compile(r"(?<!\S)(\+?62)\s+(?=8\d\d)")
_PART_OF_A_NUMBER = re.compile(r"\+?[\d.\-]+")
# What each kind looks like once spaces, dots and dashes are gone, and what to say when it does not.
_FITS = {
    DestinationKind.PHONE: (_PHONE, _("A mobile number starts with 08 (or +62 8) and has 10 to 13 digits.")),
    DestinationKind.METER: (r"\d{11,12}", _("A meter or customer number of PLN has 11 or 12 digits.")),
    DestinationKind.CARD: (rf"\d{{16}}|{_PHONE}", _("A card has 16 digits; a wallet has a mobile number (08…).")),
    DestinationKind.GAME: (r"[A-Za-z0-9#_.\-]{3,40}", _("A player's ID has 3 to 40 letters, digits or # _ . -")),
    DestinationKind.GAME_ZONE: (
        r"\d{4,12}\.\d{3,6}",
        _("Give the player's ID (digits) and the zone (3 to 6 digits)."),
    ),
    DestinationKind.CUSTOMER: (r"[A-Za-z0-9]{4,32}", _("A customer number has 4 to 32 letters or digits.")),
}


@dataclass(frozen=True)
class Operator:
    """A mobile operator: its name as it writes it, the first digits of its numbers, its brands in catalogues."""

    name: str
    prefixes: frozenset[str]
    brands: tuple[str, ...]


_OPERATORS = [
    Operator(name, frozenset(prefixes.split()), brands)
    for name, prefixes, brands in (
        ("Telkomsel", "0811 0812 0813 0821 0822 0823 0852 0853", ("telkomsel",)),
        ("by.U", "0851", ("by.u", "byu", "telkomsel")),
        ("Indosat", "0814 0815 0816 0855 0856 0857 0858", ("indosat", "im3")),
        ("XL", "0817 0818 0819 0859 0877 0878", ("xl",)),
        ("AXIS", "0831 0832 0833 0838", ("axis",)),
        ("Tri", "0895 0896 0897 0898 0899", ("tri", "three", "3")),
        ("Smartfren", "0881 0882 0883 0884 0885 0886 0887 0888 0889", ("smartfren",)),
    )
]


def kind_of(product: Product) -> DestinationKind:
    """What this product's destination is."""
    return kind_of_names(
        f"{product.code} {product.name}",
        f"{product.brand.code} {product.brand.name}",
        f"{product.category.code} {product.category.name}",
    )


def kind_of_names(product: str, brand: str, category: str) -> DestinationKind:
    """What the destination of a product is; each text is its code and its name."""
    for text, table in ((product, _PRODUCT_WORDS), (brand, _BRAND_WORDS), (category, _CATEGORY_WORDS)):
        for kind, words in table:
            if any(word in text.lower() for word in words):
                return kind
    return DestinationKind.CUSTOMER


def normalise(kind: DestinationKind, text: str, zone: str = "") -> str:
    """The destination as it is sent and stored. Raises `InvalidDestination` when it cannot be right.

    Phone numbers become `08…`; a game id with its zone becomes `id.zone`, also when both are in `text`.
    """
    if kind is DestinationKind.GAME_ZONE:
        player, zone_of_it = (text, zone) if zone.strip() else split_zone(text)
        plain = f"{player.strip()}.{zone_of_it.strip()}"
    elif kind is DestinationKind.GAME:
        plain = text.strip()
    else:
        plain = re.sub(r"[\s.\-]", "", text)
    pattern, words = _FITS[kind]
    if kind is DestinationKind.PHONE or (kind is DestinationKind.CARD and not re.fullmatch(r"\d{16}", plain)):
        plain = _at_home(plain)
    if not re.fullmatch(pattern, plain, re.ASCII):
        raise InvalidDestination(words)
    return plain


def split_zone(text: str) -> tuple[str, str]:
    """A player's ID and the zone, from "12345678 (1234)", as games show it, or from `id.zone`; the zone may be ""."""
    found = re.fullmatch(r"\s*(\d+)\s*(?:\(\s*(\d+)\s*\)|\.(\d+))\s*", text, re.ASCII)
    return (found[1], found[2] or found[3]) if found else (text, "")


def _at_home(number: str) -> str:
    """A phone number in the national notation: 08…"""
    return re.sub(r"^(\+62|62|0062)0?", "0", number)


def split_number(text: str) -> tuple[str, str]:
    """A phone number among words, as it was typed, and the words: "0812 9000 0001 10" → "0812 9000 0001", "10".

    After ten digits a space ends the number, unless the next group is as long as the last one, or one single digit
    after groups: a number with a digit too few must never be offered.
    """
    words = _COUNTRY_APART.sub(r"\1", text).split()
    start = next((at for at, word in enumerate(words) if _BEGINS_A_NUMBER.match(word)), len(words))
    taken: list[str] = []
    for word in words[start:]:
        count = len(_at_home(re.sub(r"\D", "", "".join(taken))))
        in_groups = len(taken) > 1 and len(taken[-1]) <= _LONGEST_GROUP
        goes_on = count < _LEAST_DIGITS or (in_groups and len(word) in {len(taken[-1]), 1})
        if not _PART_OF_A_NUMBER.fullmatch(word) or (taken and not goes_on):
            break
        taken.append(word)
    return " ".join(taken), " ".join([*words[:start], *words[start + len(taken) :]])


def operator_of(phone: str) -> Operator | None:
    """The mobile operator of a number in any notation; None when it is not recognised."""
    prefix = _at_home(re.sub(r"\D", "", phone))[:4]
    return next((operator for operator in _OPERATORS if prefix in operator.prefixes), None)


def is_brand_of(operator: Operator, brand_name: str) -> bool:
    """Whether a brand called `brand_name` in the catalogue belongs to `operator`."""
    name = brand_name.lower()
    return any(name == brand or name.startswith(f"{brand} ") for brand in operator.brands)


def is_brand_of_another(operator: Operator, brand_name: str) -> bool:
    """Whether a brand called `brand_name` belongs to some other operator than `operator`."""
    return not is_brand_of(operator, brand_name) and any(is_brand_of(other, brand_name) for other in _OPERATORS)


def shown(kind: DestinationKind, destination: str) -> str:
    """The destination grouped for reading aloud: `0812-9000-0001`, `1234 5678 901`, `12345678 (1234)`."""
    match kind:
        case DestinationKind.PHONE:
            return "-".join(_groups(destination, 4))
        case DestinationKind.METER | DestinationKind.CUSTOMER:
            return " ".join(_groups(destination, 4))
        case DestinationKind.CARD:
            return ("-" if destination.startswith("08") else " ").join(_groups(destination, 4))
        case DestinationKind.GAME_ZONE:
            player, _dot, zone = destination.partition(".")
            return f"{player} ({zone})" if zone else player
        case DestinationKind.GAME:
            return destination


def _groups(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
