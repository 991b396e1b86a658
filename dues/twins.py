"""When two saved rows of one number become one, its bill stays followed."""

from __future__ import annotations

from customers.models import SavedNumber
from customers.services.twins import moves
from dues.models import DueBill, FollowedNumber


@moves
def follow_on(gone: SavedNumber, kept: SavedNumber) -> None:
    """Follow `kept` as `gone` was, unless it is followed itself. Bills of `gone` that have ended go with it."""
    if not FollowedNumber.objects.filter(number=kept).exists():
        FollowedNumber.objects.filter(number=gone).update(number=kept)
        DueBill.objects.open().filter(number=gone).update(number=kept)
