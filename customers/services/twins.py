"""Joins two rows of one number: other rooms' rows about the deleted one move to the row that stays."""

from collections.abc import Callable
from functools import cache

from django.utils.module_loading import autodiscover_modules

from customers.models import SavedNumber

Mover = Callable[[SavedNumber, SavedNumber], None]
_MOVERS: list[Mover] = []


def moves(mover: Mover) -> Mover:
    """A decorator that registers how a room moves its rows from the first number to the second, in `twins.py`."""
    _MOVERS.append(mover)
    return mover


@cache
def _discover() -> None:
    autodiscover_modules("twins")


def move_all(gone: SavedNumber, kept: SavedNumber) -> None:
    """Move what every room keeps about `gone`; call it in the transaction that deletes it."""
    _discover()
    for mover in _MOVERS:
        mover(gone, kept)
