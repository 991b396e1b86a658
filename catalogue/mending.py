"""Mends numbers that a spreadsheet has changed, where that is certain; refuses lost digits. Pure functions."""

import re

from django.utils.translation import gettext as _

from catalogue.destinations import METER, PHONE, DestinationKind, InvalidDestination

_SHORTENED = re.compile(r"(\d)(?:[.,](\d+))?E\+?(\d{1,2})", re.ASCII | re.IGNORECASE)
_WITH_FRACTION = re.compile(r"(\d{7,})[.,]0", re.ASCII)
# A mobile number without its first 0.
_WITHOUT_ZERO = re.compile(r"8\d{8,11}", re.ASCII)


class DigitsLost(InvalidDestination):
    """The spreadsheet has kept only the first digits of the number."""


def mend_number(text: str, kind: DestinationKind | None) -> tuple[str, DestinationKind]:
    """The destination in this cell as it is stored, and its kind; without one a phone or meter number, by its form.

    "8.1234567890E+10", "81234567890.0" and "8123 456 7890" become 081234567890. Raises `InvalidDestination`, or
    `DigitsLost`.
    """
    plain = _digits(text.strip())
    if kind:
        return _read_phone(kind, plain) or kind.clean(plain), kind
    for guess in (PHONE, METER):
        if destination := _read_phone(guess, plain) or guess.read(plain):
            return destination, guess
    raise InvalidDestination(
        _("No phone number: write the product, the biller or the kind, such as “game”, beside it.")
    )


def _digits(text: str) -> str:
    if match := _SHORTENED.fullmatch(text):
        digits = match[1] + (match[2] or "")
        if len(digits) != int(match[3]) + 1:
            raise DigitsLost(
                _("The spreadsheet has shortened this number. Make the column text there, and type the number again.")
            )
        return digits
    match = _WITH_FRACTION.fullmatch(text)
    return match[1] if match else text


def _read_phone(kind: DestinationKind, plain: str) -> str:
    digits = re.sub(r"[\s.\-]", "", plain)
    return kind.read(f"0{digits}") if kind.takes_phone and _WITHOUT_ZERO.fullmatch(digits) else ""
