"""Finds the act of a room above that will soon pay a bill due, such as a batch, so that nobody also pays it by hand.

A room registers its acts in `holders.py`, which is loaded at the first list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.parts import FromRooms
from dues.models import DueBill
from staff.models import User


@dataclass(frozen=True, kw_only=True)
class Holder:
    """An act that will soon pay a bill. `url`: its page; "" for a person who may not open it.

    `is_released`: it pays without a further step of a person.
    """

    words: str
    url: str
    is_released: bool


_QUESTIONS: FromRooms[Callable[[Sequence[DueBill], User], dict[int, Holder]]] = FromRooms("holders")
#: A decorator of a room's function of bills and person: the acts that are about to pay them, by the keys of the bills.
holds = _QUESTIONS.add


def holders_of(bills: Sequence[DueBill], person: User) -> dict[int, Holder]:
    """The acts that will soon pay these bills, by the keys of the bills; a bill without such an act is left out."""
    return {key: holder for question in _QUESTIONS.all() for key, holder in question(bills, person).items()}
