"""Finds customers who have bought in a branch. The room above that has the payments answers, in its `buyers.py`."""

from collections.abc import Callable
from functools import cache, reduce
from operator import or_

from django.db.models import Q
from django.utils.module_loading import autodiscover_modules

#: A function of a branch's key: the condition that a customer has bought there.
Question = Callable[[int], Q]
_QUESTIONS: list[Question] = []


def knows_buyers(question: Question) -> Question:
    """A decorator that registers a room's knowledge about the customers of a branch, in its `buyers.py`."""
    _QUESTIONS.append(question)
    return question


@cache
def _discover() -> None:
    autodiscover_modules("buyers")


def bought_in(branch: int) -> Q:
    """The condition that a customer, or a customer merged into this one, has bought in this branch."""
    _discover()
    return reduce(or_, (question(branch) for question in _QUESTIONS))
