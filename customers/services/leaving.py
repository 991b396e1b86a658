"""Has every room mask in its own rows what it keeps about an erased customer."""

from collections.abc import Callable
from functools import cache

from django.utils.module_loading import autodiscover_modules

from approvals.models import Approval

#: A function of the numbers that only this customer had.
Forgetter = Callable[[frozenset[str]], None]
_FORGETTERS: list[Forgetter] = []


def forgets(forgetter: Forgetter) -> Forgetter:
    """A decorator that registers how a room masks what it keeps for these numbers, in its `erasing.py`."""
    _FORGETTERS.append(forgetter)
    return forgetter


@cache
def _discover() -> None:
    autodiscover_modules("erasing")


def forget_all(numbers: frozenset[str]) -> None:
    """Mask the rows of every room for these numbers, in the order of locks: approvals, then the highest rooms first."""
    Approval.objects.forget_numbers(numbers)
    _discover()
    for forgetter in reversed(_FORGETTERS):
        forgetter(numbers)
