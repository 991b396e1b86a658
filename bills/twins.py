"""Two rows of one number become one: its checks stay beside it."""

from __future__ import annotations

from bills.models import BillCheck
from customers.models import SavedNumber
from customers.services.twins import moves


@moves
def keep_checks(gone: SavedNumber, kept: SavedNumber) -> None:
    """Keep the checks of bills with the number that stays."""
    BillCheck.objects.filter(saved_number=gone).update(saved_number=kept)
