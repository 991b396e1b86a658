"""Two rows of one number become one: its bill stays followed."""

from __future__ import annotations

from customers.models import SavedNumber
from customers.services.twins import moves
from dues.models import DueBill, FollowedNumber


@moves
def follow_on(gone: SavedNumber, kept: SavedNumber) -> None:
    """Follow the number that stays as the other was, unless it is followed itself. Months that ended go."""
    if not FollowedNumber.objects.filter(number=kept).exists():
        FollowedNumber.objects.filter(number=gone).update(number=kept)
        DueBill.objects.open().filter(number=gone).update(number=kept)
