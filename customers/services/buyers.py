"""Finds customers who have bought in a branch. The room above that has the payments answers, in its `buyers.py`."""

from collections.abc import Callable
from functools import reduce
from operator import or_

from django.db.models import Q

from core.parts import FromRooms

_QUESTIONS: FromRooms[Callable[[int], Q]] = FromRooms("buyers")
#: A decorator of a room's function of a branch's key: the condition that a customer has bought there.
knows_buyers = _QUESTIONS.add


def bought_in(branch: int) -> Q:
    """The condition that a customer, or a customer merged into this one, has bought in this branch."""
    return reduce(or_, (question(branch) for question in _QUESTIONS.all()))
