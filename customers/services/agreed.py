"""Sales that a room above has agreed on a customer's tab and not placed yet, such as the rest of a batch.

A merge moves them to the customer who stays, and a customer with such a sale is not erased. The room agrees to the sale
under the customer's lock (`lock_customer`), so that none is added while the customer goes.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from core.parts import FromRooms


@dataclass(frozen=True, kw_only=True)
class AgreedSales:
    """The agreed sales of one room.

    `lock`: locks those of these customers until the transaction ends. `move`: gives those of the first customer to the
    second. `name_first`: names one of this customer's in words for people; "" without any.
    """

    lock: Callable[[Collection[int]], None]
    move: Callable[[int, int], None]
    name_first: Callable[[int], str]


_ROOMS: FromRooms[AgreedSales] = FromRooms("agreed")
#: Registers the agreed sales of a room.
register = _ROOMS.add


def lock_agreed(customers: Collection[int]) -> None:
    """Lock the agreed sales of these locked customers, before payments and accounts: placing one locks them, too."""
    for sales in _ROOMS.all():
        sales.lock(customers)


def move_agreed(gone: int, kept: int) -> None:
    """Give the locked sales that were agreed with `gone` to `kept`."""
    for sales in _ROOMS.all():
        sales.move(gone, kept)


def name_agreed(customer: int) -> str:
    """An agreed sale of this customer, in words for people; "" without any."""
    return next(filter(None, (sales.name_first(customer) for sales in _ROOMS.all())), "")
