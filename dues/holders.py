"""Finds the act of a room above that will soon pay a bill due, such as a batch, so that nobody also pays it by hand.

A room registers its acts in `holders.py`, which is loaded at the first list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from django.utils.module_loading import autodiscover_modules

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


Question = Callable[[Sequence["DueBill"], "User"], dict[int, Holder]]
_QUESTIONS: list[Question] = []


def holds(question: Question) -> Question:
    """A decorator that registers a room's function of person and bill keys: what the room is about to pay."""
    _QUESTIONS.append(question)
    return question


def holders_of(bills: Sequence[DueBill], person: User) -> dict[int, Holder]:
    """The acts that will soon pay these bills, by the keys of the bills; a bill without such an act is left out."""
    _discover()
    return {key: holder for question in _QUESTIONS for key, holder in question(bills, person).items()}


@cache
def _discover() -> None:
    autodiscover_modules("holders")
