"""Stores the sums of each day that is over and can no longer change, and makes them again after a reversal."""

import datetime as dt

from django.db import transaction
from django.utils import timezone

from core import clock
from core.times import start_of_day
from drawers.models import Payment, Shift
from earnings.models import DaySum, SummedDay
from earnings.services.figures import LONGEST_MOVE, Period, kept_days, sums_of_orders
from purchases.models import LostOrder, Order


def sum_days() -> int:
    """Sum each day that is over, cannot change and lacks valid sums, oldest first; returns how many days.

    Safe at any time, by anyone. Sums that a proof found wrong stay as they are, for people to look at first.
    """
    first = Order.objects.order_by("created_at", "pk").values_list("created_at", flat=True).first()
    today = start_of_day(_running_day())
    if first is None or first >= today:
        return 0
    period = Period(start_of_day(timezone.localdate(first)), today)
    not_now = {timezone.localdate(at) for at in Order.objects.open().values_list("created_at", flat=True)}
    not_now |= kept_days(period) | set(SummedDay.objects.filter(off_by__gt=0).values_list("day", flat=True))
    return sum(sum_day(day) for day in period.whole_days() if day not in not_now)


def sum_day(day: dt.date) -> bool:
    """Make the sums of one day from its orders; they replace earlier ones.

    False while the day is not over or may still change: it has an open order, a lost order has to be taken in, or an
    open shift may correct a sale's way to pay.
    """
    period = Period.of_days(day, day)
    if day >= _running_day():
        return False
    with transaction.atomic():
        SummedDay.objects.get_or_create(day=day, defaults={"summed_at": timezone.now()})
        row = SummedDay.objects.select_for_update(no_key=True).get(day=day)
        if may_change(period):
            transaction.set_rollback(True)
            return False
        row.summed_at, row.off_by = timezone.now(), 0
        row.save(update_fields=["summed_at", "off_by"])
        DaySum.objects.of_day(day).delete()
        DaySum.objects.bulk_create([DaySum(day=row, **sums) for sums in sums_of_orders(day)], batch_size=1000)
    return True


def may_change(period: Period) -> bool:
    """Whether orders of the period are open or to come, or their payments can change.

    Waiting rows are searched first: they become an open order, or a sale of an open shift, which are searched next.
    """
    lost = LostOrder.objects.filter(order=None).values_list("line", flat=True)
    if any(period.since <= dt.datetime.fromisoformat(line["created_at"]) < period.until for line in lost):
        return True
    # An order and its payment are stored together, each with a time of its own.
    sold = Payment.objects.filter(at__gte=period.since - LONGEST_MOVE, at__lt=period.until + LONGEST_MOVE)
    waiting = sold.filter(sold_in=None, agreed_in__isnull=False, seller__is_active=True)
    in_open_shifts = sold.filter(sold_in__in=Shift.objects.filter(closed_at=None).values("pk"))
    open_orders = Order.objects.open().filter(created_at__gte=period.since, created_at__lt=period.until)
    return waiting.exists() or in_open_shifts.exists() or open_orders.exists()


def _running_day() -> dt.date:
    """The first day that may still get orders: at midnight some are not in the database yet."""
    return timezone.localdate(clock.now() - LONGEST_MOVE)
