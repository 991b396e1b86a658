"""Kinds of destination: how a number is recognised, cleaned, checked, grouped for reading, and asked for.

To add a kind, add it to `KINDS`. The upstream's document says no more about destinations than "target of the
purchase"; these rules are common in the trade. They are wide, because the upstream has the last word with
INVALID_DESTINATION.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.query_utils import DeferredAttribute
from django.utils.translation import gettext_lazy as _

from catalogue.operators import Operator, operator_of
from core.errors import Refused
from core.notation import as_if_typed, at_home, bare, in_groups, out_of_brackets
from core.numbers import masked, sees_whole

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as _StrOrPromise

    _CharField = models.CharField["str | DestinationKind", "DestinationKind"]
else:
    _CharField = models.CharField

_PHONE = r"08\d{8,11}"
_ANY, _NOT_ANY = r"[A-Za-z0-9]{4,32}", _("A customer number has 4 to 32 letters or digits.")
# The form field of most billers. Their numbers are digits, so it shows the digits' keyboard, unless some have letters.
_CUSTOMER_NUMBER, _ON_A_BILL = _("Customer number"), _("As on an earlier bill.")
# The characters that may stand between the digits of a typed number, and before 62.
_SEPARATORS = re.compile(r"^\+(?=62)|[\s.\-]")


class InvalidDestination(Refused):
    """The number cannot be right for this kind of product; the text says what is expected."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DestinationKind:
    """The kinds of destinations. There is one object for each kind: compare them with `is`.

    `pattern`: the pattern of a cleaned number; `refusal`: the words for a number that does not match. `label`, `hint`,
    `placeholder` (a number of this kind), `inputmode`: its form field. `in_category`, `in_brand`, `in_product`: the
    words by which it is recognised, only for bills with `of_bills`. `between`: the characters between its groups.
    """

    code: str
    name: _StrOrPromise
    pattern: str = _ANY
    refusal: _StrOrPromise = _NOT_ANY
    label: _StrOrPromise = _CUSTOMER_NUMBER
    hint: _StrOrPromise = _ON_A_BILL
    placeholder: str = "1234 5678 90"
    inputmode: str = "numeric"
    in_category: tuple[str, ...] = ()
    in_brand: tuple[str, ...] = ()
    in_product: tuple[str, ...] = ()
    of_bills: bool = False
    between: str = " "
    #: Whether it is a mobile phone's number, which has an operator.
    is_phone: bool = False
    #: Whether a mobile number may be of this kind.
    takes_phone: bool = False
    #: Whether a number of this kind can be recognised only by its product, not by its form.
    needs_product: bool = False

    def __str__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_called, (self.code,)

    @property
    def is_general(self) -> bool:
        """Whether nothing is known of its numbers except that they have letters or digits."""
        return self.pattern == _ANY

    def clean(self, text: str) -> str:
        """The destination as it is sent and stored. Raises `InvalidDestination` when it cannot be right."""
        plain = self._plain(as_if_typed(text))
        if not re.fullmatch(self.pattern, plain, re.ASCII):
            raise InvalidDestination(self.refusal)
        return plain

    def read(self, text: str) -> str:
        """The destination as it is stored; "" while it is incomplete or wrong."""
        try:
            return self.clean(text)
        except InvalidDestination:
            return ""

    def _plain(self, text: str) -> str:
        plain = _SEPARATORS.sub("", out_of_brackets(text).strip() if self.takes_phone else text.strip())
        at_home_too = at_home(plain) if self.takes_phone and plain == bare(plain) else plain
        return at_home_too if re.fullmatch(_PHONE, at_home_too, re.ASCII) else plain

    def shown(self, destination: str) -> str:
        """The destination grouped for reading aloud: `0812-9000-0001`, `1234 5678 901`, `12345678 (1234)`."""
        return in_groups(destination, "-" if self.takes_phone and destination.startswith("08") else self.between)

    def as_seen(self, destination: str) -> str:
        """The grouped destination, in full or masked, as the viewer may see it."""
        grouped = self.shown(destination)
        return grouped if sees_whole(destination) else masked(grouped)

    def is_phone_number(self, destination: str) -> bool:
        """Whether this destination is a mobile number, to which a message can be sent."""
        return self.takes_phone and destination.startswith("08")

    def operator_of(self, typed: str) -> Operator | None:
        """The operator of a typed number; None if the kind is not a phone number, or the operator is not known."""
        return operator_of(typed) if self.is_phone else None


class _Spelled(DestinationKind):
    """A kind whose numbers are kept as they are typed: dots and dashes belong to them."""

    def _plain(self, text: str) -> str:
        return text.strip()

    def shown(self, destination: str) -> str:
        """The destination unchanged."""
        return destination


class _WithZone(DestinationKind):
    """A player's ID and the zone, stored as `id.zone`.

    People may type it like that, with a comma, a space, a dash or a slash between, or as games show it: "id (zone)".
    """

    def _plain(self, text: str) -> str:
        match = re.fullmatch(r"\s*(\d+)(?:\s*\(\s*(\d+)\s*\)|\s*[.,/-]\s*(\d+)|\s+(\d+))\s*", text, re.ASCII)
        return f"{match[1]}.{match[2] or match[3] or match[4]}" if match else ""

    def shown(self, destination: str) -> str:
        """The ID, and the zone in brackets."""
        player, _dot, zone = destination.partition(".")
        return f"{player} ({zone})" if zone else player


METER = DestinationKind(
    code="meter",
    name=_("Electricity meter"),
    pattern=r"\d{11,12}",
    refusal=_("A meter or customer number of PLN has 11 or 12 digits."),
    label=_("Meter or customer number"),
    hint=_("11 or 12 digits, as on the meter."),
    placeholder="1234 5678 901",
    in_category=("token", "pln", "listrik"),
)
GAME = _Spelled(
    code="game",
    name=_("Game account"),
    pattern=r"[A-Za-z0-9#_.\-]{3,40}",
    refusal=_("A player's ID has 3 to 40 letters, digits or # _ . -"),
    label=_("Player ID"),
    hint=_("As shown in the player's profile."),
    placeholder="123456789",
    inputmode="text",
    in_category=("game", "gim"),
    needs_product=True,
)
GAME_ZONE = _WithZone(
    code="game_zone",
    name=_("Game account with zone"),
    pattern=r"\d{4,12}\.\d{3,6}",
    refusal=_("Give the player's ID (digits) and the zone (3 to 6 digits): 12345678 (1234)."),
    label=_("Player ID and zone"),
    hint=_("In the game: 12345678 (1234). The part in brackets is the zone."),
    placeholder="12345678 (1234)",
    inputmode="text",
    in_brand=("mobile legends", "mobile_legends", "mobilelegend", "magic chess"),
    needs_product=True,
)
CARD = DestinationKind(
    code="card",
    name=_("Wallet or card"),
    pattern=rf"\d{{16}}|{_PHONE}",
    refusal=_("A card has 16 digits; a wallet has a mobile number (08…)."),
    label=_("Card or phone number"),
    hint=_("The 16 digits on the card, or the phone number of the wallet."),
    placeholder="0812 3456 7890",
    in_category=("money", "wallet", "emoney", "e-toll", "uang"),
    takes_phone=True,
)
PHONE = DestinationKind(
    code="phone",
    name=_("Phone number"),
    pattern=_PHONE,
    refusal=_("A mobile number starts with 08 (or +62 8) and has 10 to 13 digits."),
    label=_("Phone number"),
    hint=_("For example 0812 3456 7890, 62812… or +62 812…"),
    placeholder="0812 3456 7890",
    inputmode="tel",
    in_category=(
        *("pulsa", "data", "phone", "telepon", "sms", "roaming", "masa aktif", "masa_aktif"),
        *("hp-pasca", "hp pasca", "seluler"),
    ),
    between="-",
    is_phone=True,
    takes_phone=True,
)
CUSTOMER = DestinationKind(
    code="customer",
    name=_("Other customer number"),
    hint=_("As on the bill or the card."),
    placeholder="1234567890",
    inputmode="text",
    in_category=("streaming",),
    in_product=("non-taglis", "nontaglis", "non taglis", "nontag"),
)

#: Every kind by its code. The first kind whose words are found counts.
KINDS: dict[str, DestinationKind] = {
    kind.code: kind
    for kind in (
        *(METER, GAME, CARD, PHONE, CUSTOMER, GAME_ZONE),
        DestinationKind(
            code="participant",
            name=_("Participant number"),
            label=_("Participant or VA number"),
            hint=_("As on the card or in the biller's app."),
            placeholder="0001 2345 67890",
            in_category=("bpjs",),
            of_bills=True,
        ),
        DestinationKind(
            code="contract",
            name=_("Contract number"),
            label=_("Contract number"),
            hint=_("As on the contract or the payment book."),
            in_category=("finance", "cicilan", "kredit", "angsuran"),
            of_bills=True,
        ),
        DestinationKind(
            code="internet",
            name=_("Internet customer"),
            inputmode="text",
            in_category=("internet",),
            of_bills=True,
        ),
        DestinationKind(
            code="biller",
            name=_("Customer of a biller"),
            in_category=("pdam", "tv", "gas", "pbb"),
            of_bills=True,
        ),
    )
}


def kind_called(code: str) -> DestinationKind:
    """The kind of this code; the general one for a code that this version does not know."""
    return KINDS.get(code, CUSTOMER)


def kind_of_own_names(product: str, brand: str) -> DestinationKind | None:
    """The kind to which a product's or its brand's words point; both texts are code and name. Else None."""
    return _first(product, "in_product") or _first(brand, "in_brand")


def kind_of_category(category: str, *, is_bill: bool) -> DestinationKind | None:
    """The kind to which a category's words (its code and name) point; None without such a word."""
    return _first(category, "in_category", is_bill=is_bill)


def _first(text: str, words: str, *, is_bill: bool = False) -> DestinationKind | None:
    plain = text.lower()
    kinds = (kind for kind in KINDS.values() if is_bill or not kind.of_bills)
    return next((kind for kind in kinds if any(word in plain for word in getattr(kind, words))), None)


def spellings(text: str) -> set[str]:
    """Every way in which a stored destination may begin for this typed text: "+62 812" → "62812", "0812"."""
    ways = {bare(text), at_home(text), *(kind.read(text) for kind in KINDS.values())}
    return {way for way in ways if way}


def general_kind() -> DestinationKind:
    """The kind that counts while the right one is not known."""
    return CUSTOMER


class _KindOfRow(DeferredAttribute):
    """A row's kind, also when its code was set, by a test or by plain SQL."""

    def __set__(self, row: models.Model, value: Any) -> None:
        vars(row)[self.field.attname] = self.field.to_python(value)


class KindField(_CharField):
    """A kind, stored as its code. A new kind needs no migration."""

    descriptor_class = _KindOfRow

    def __init__(self, **facts: Any) -> None:
        super().__init__(**{"max_length": 20, "default": general_kind, **facts})

    def from_db_value(self, code: str | None, *_: object) -> DestinationKind | None:
        """The kind of a stored code."""
        return None if code is None else kind_called(code)

    def to_python(self, value: Any) -> Any:
        """The kind with this code; a kind is returned unchanged."""
        return kind_called(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        """The code. Raises `KeyError` for an unknown code."""
        return None if value is None else KINDS[str(value)].code

    def value_to_string(self, obj: models.Model) -> str:
        """The code, for a file of rows."""
        return str(self.value_from_object(obj))
