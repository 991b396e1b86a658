"""Destinations by kind of product: checked, normalised, and shown as people read them aloud.

The upstream's document says nothing about destinations but "target of the purchase"; the rules here are the field's.
They are kept wide: the upstream has the last word with INVALID_DESTINATION.
"""

from __future__ import annotations

import re
from enum import StrEnum

from django.utils.translation import gettext as _

from purchases.errors import InvalidDestination
from purchases.models import Product


class DestinationKind(StrEnum):
    """What a destination is."""

    PHONE = "phone"
    METER = "meter"
    GAME = "game"
    GAME_ZONE = "game_zone"
    CARD = "card"
    CUSTOMER = "customer"


# Words in the code or name of a category, and then of a brand, that tell the kind; the first hit counts.
_BRAND_WORDS = [(DestinationKind.GAME_ZONE, ("mobile legends", "mobile_legends", "mobilelegend", "magic chess"))]
_CATEGORY_WORDS = [
    (DestinationKind.METER, ("token", "pln", "listrik")),
    (DestinationKind.GAME, ("game", "gim")),
    (DestinationKind.CARD, ("money", "wallet", "emoney", "e-toll", "uang")),
    (DestinationKind.PHONE, ("pulsa", "data", "phone", "telepon", "sms", "roaming", "masa aktif", "masa_aktif")),
    (DestinationKind.PHONE, ("hp-pasca", "hp pasca", "seluler")),
]

# Mobile operators by the first four digits (national numbering plan).
_OPERATORS = {
    "telkomsel": "0811 0812 0813 0821 0822 0823 0852 0853",
    "by.u": "0851",
    "indosat": "0814 0815 0816 0855 0856 0857 0858",
    "xl": "0817 0818 0819 0859 0877 0878",
    "axis": "0831 0832 0833 0838",
    "tri": "0895 0896 0897 0898 0899",
    "smartfren": "0881 0882 0883 0884 0885 0886 0887 0888 0889",
}
_OPERATOR_OF = {prefix: operator for operator, prefixes in _OPERATORS.items() for prefix in prefixes.split()}
# Other words by which a brand of that operator is known in catalogues.
_BRAND_ALIASES = {
    "tri": ("tri", "three", "3"),
    "indosat": ("indosat", "im3"),
    "by.u": ("by.u", "byu", "telkomsel"),
}


def kind_of(product: Product) -> DestinationKind:
    """What this product's destination is, told from its brand and its category."""
    brand = f"{product.brand.code} {product.brand.name}".lower()
    category = f"{product.category.code} {product.category.name}".lower()
    for text, table in ((brand, _BRAND_WORDS), (category, _CATEGORY_WORDS)):
        for kind, words in table:
            if any(word in text for word in words):
                return kind
    return DestinationKind.CUSTOMER


def normalise(kind: DestinationKind, text: str, zone: str = "") -> str:
    """The destination as it is sent and stored. Raises `InvalidDestination` when it cannot be right.

    Phone numbers become `08…`; a game id with its zone becomes `id.zone`.
    """
    plain = re.sub(r"[\s.\-]", "", text)
    match kind:
        case DestinationKind.PHONE:
            return _phone(plain)
        case DestinationKind.METER:
            if not re.fullmatch(r"\d{11,12}", plain):
                raise InvalidDestination(_("A meter or customer number of PLN has 11 or 12 digits."))
            return plain
        case DestinationKind.GAME | DestinationKind.GAME_ZONE:
            return _game(text.strip(), zone.strip(), needs_zone=kind is DestinationKind.GAME_ZONE)
        case DestinationKind.CARD:
            if re.fullmatch(r"\d{16}", plain):
                return plain
            return _phone(plain)
        case DestinationKind.CUSTOMER:
            if not re.fullmatch(r"[A-Za-z0-9]{4,32}", plain):
                raise InvalidDestination(_("A customer number has 4 to 32 letters or digits."))
            return plain


def _phone(plain: str) -> str:
    number = re.sub(r"^(\+62|62|0062)0?", "0", plain)
    if not re.fullmatch(r"08\d{8,11}", number):
        raise InvalidDestination(_("A mobile number starts with 08 (or +62 8) and has 10 to 13 digits."))
    return number


def _game(player: str, zone: str, *, needs_zone: bool) -> str:
    if needs_zone:
        if not (re.fullmatch(r"\d{4,12}", player) and re.fullmatch(r"\d{3,6}", zone)):
            raise InvalidDestination(_("Give the player's ID (digits) and the zone (3 to 6 digits)."))
        return f"{player}.{zone}"
    if not re.fullmatch(r"[A-Za-z0-9#_.\-]{3,40}", player):
        raise InvalidDestination(_("A player's ID has 3 to 40 letters, digits or # _ . -"))
    return player


def operator_of(phone: str) -> str | None:
    """The mobile operator of a number in any notation, as a lower-case brand word; None when it is not recognised."""
    digits = re.sub(r"\D", "", phone)
    number = re.sub(r"^(62|0062)0?", "0", digits)
    return _OPERATOR_OF.get(number[:4])


def is_brand_of(operator: str, brand_name: str) -> bool:
    """Whether a brand called `brand_name` in the catalogue belongs to `operator` (a word of `operator_of`)."""
    name = brand_name.lower()
    return any(name == alias or name.startswith(f"{alias} ") for alias in _BRAND_ALIASES.get(operator, (operator,)))


def is_brand_of_another(operator: str, brand_name: str) -> bool:
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
