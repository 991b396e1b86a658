"""Moves the bill checks to the row that stays, when two saved rows of one number become one."""

from bills.models import BillCheck
from customers.models import SavedNumber
from customers.services.twins import moves


@moves
def keep_checks(gone: SavedNumber, kept: SavedNumber) -> None:
    """Give the bill checks of `gone` to `kept`."""
    BillCheck.objects.filter(saved_number=gone).update(saved_number=kept)
