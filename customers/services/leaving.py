"""What other rooms keep of a customer who is erased: each masks it in its own rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.utils.module_loading import autodiscover_modules

#: Gets the numbers that were the customer's alone.
Forgetter = Callable[[frozenset[str]], None]
_FORGETTERS: list[Forgetter] = []


def forgets(forgetter: Forgetter) -> Forgetter:
    """Register how a room masks what it keeps for these numbers: a decorator, in its `erasing.py`."""
    _FORGETTERS.append(forgetter)
    return forgetter


@cache
def _discover() -> None:
    autodiscover_modules("erasing")


def forget_all(numbers: frozenset[str]) -> None:
    """Mask what every room keeps for these numbers, the rooms above first, so that their rows are locked in order."""
    _discover()
    for forgetter in reversed(_FORGETTERS):
        forgetter(numbers)
