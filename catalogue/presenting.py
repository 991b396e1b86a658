"""The parts of the catalogue's pages besides the products."""

from __future__ import annotations

from dataclasses import dataclass

from catalogue.destinations import PHONE
from catalogue.operators import Operator, operator_of


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
        number = PHONE.read(typed)
        return cls(typed=typed, number=number, shown=PHONE.shown(number), operator=operator_of(typed))
