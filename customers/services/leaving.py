"""Has every room mask in its own rows what it keeps about an erased customer."""

from collections.abc import Callable

from approvals.models import Approval
from core.parts import FromRooms

_FORGETTERS: FromRooms[Callable[[frozenset[str]], None]] = FromRooms("erasing")
#: A decorator of a room's function of the numbers that only this customer had: it masks what the room keeps for them.
forgets = _FORGETTERS.add


def forget_all(numbers: frozenset[str]) -> None:
    """Mask the rows of every room for these numbers, in the order of locks: approvals, then the highest rooms first."""
    Approval.objects.forget_numbers(numbers)
    for forgetter in reversed(_FORGETTERS.all()):
        forgetter(numbers)
