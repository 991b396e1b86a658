"""Keeps a bill followed when two saved rows of one number become one."""

from customers.models import SavedNumber
from customers.services.twins import moves
from dues.models import DueBill, FollowedNumber


@moves
def follow_on(gone: SavedNumber, kept: SavedNumber) -> None:
    """Follow `kept` as `gone` was, unless it is followed itself, and keep one open bill.

    If `kept` has no open bill it gets that of `gone`, in place of an ended bill of that month. Ended bills of `gone`
    are deleted with it.
    """
    # The lock keeps the sweep from opening a bill meanwhile.
    followed = FollowedNumber.objects.select_for_update().filter(number__in=[gone, kept]).order_by("pk")
    if kept.pk not in [row.pk for row in followed]:
        FollowedNumber.objects.filter(number=gone).update(number=kept)
    bills, own = DueBill.objects.open().filter(number=gone), DueBill.objects.filter(number=kept)
    if not own.open().exists():
        own.filter(month__in=bills.values("month")).delete()
        bills.update(number=kept)
