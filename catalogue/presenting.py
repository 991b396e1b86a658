"""What the catalogue's pages show besides the products."""

from __future__ import annotations

from dataclasses import dataclass

from catalogue.destinations import DestinationKind, Operator, normalise, operator_of, shown
from catalogue.errors import InvalidDestination


@dataclass(frozen=True)
class Phone:
    """The customer's number as typed, and what it says: `number` is empty while it is not complete."""

    typed: str
    number: str
    shown: str
    operator: Operator | None

    @classmethod
    def read(cls, typed: str) -> Phone:
        """Recognise a number in any notation."""
        try:
            number = normalise(DestinationKind.PHONE, typed) if typed else ""
        except InvalidDestination:
            number = ""
        return cls(
            typed=typed,
            number=number,
            shown=shown(DestinationKind.PHONE, number) if number else "",
            operator=operator_of(typed),
        )
