"""Joins two rows of one number: other rooms' rows about the deleted one move to the row that stays."""

from collections.abc import Callable

from core.parts import FromRooms
from customers.models import SavedNumber

_MOVERS: FromRooms[Callable[[SavedNumber, SavedNumber], None]] = FromRooms("twins")
#: A decorator of a room's function that moves its rows from the first number to the second.
moves = _MOVERS.add


def move_all(gone: SavedNumber, kept: SavedNumber) -> None:
    """Move what every room keeps about `gone`; call it in the transaction that deletes it."""
    for mover in _MOVERS.all():
        mover(gone, kept)
