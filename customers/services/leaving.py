"""What other rooms keep of a customer who is erased: each masks it in its own rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.utils.module_loading import autodiscover_modules

from approvals.models import Approval

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
    """Mask what every room keeps for these numbers, in the order of locks: approvals, then the rooms above first."""
    Approval.objects.forget_numbers(numbers)
    _discover()
    for forgetter in reversed(_FORGETTERS):
        forgetter(numbers)
