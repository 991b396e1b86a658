"""Orders of past days, and the figures of a page of earnings."""

import datetime as dt
import re
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from core.times import start_of_day
from earnings.models import SummedDay
from earnings.services import keeping, sum_days
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.people import make_person

TODAY = timezone.localdate
ONE_DAY = dt.timedelta(days=1)


def ago(days: int, hour: int = 12) -> dt.datetime:
    return start_of_day(TODAY() - days * ONE_DAY) + dt.timedelta(hours=hour)


def sold(at: dt.datetime, status: Status = Status.SUCCESS, **facts: Any) -> Order:
    ended = {"final_at": at + dt.timedelta(seconds=8)} if status not in {Status.PENDING} else {}
    return make_order(status, created_at=at, **{"price": 10_500, "selling_price": 12_000, **ended, **facts})


def sum_past_days() -> None:
    """As `sum_days`, but at once for days without a sale: they have no sums and count as summed."""
    with_orders = {timezone.localdate(at) for at in Order.objects.values_list("created_at", flat=True)}
    past = [TODAY() - number * ONE_DAY for number in range(1, (TODAY() - min(with_orders)).days)]
    idle = [SummedDay(day=day, summed_at=timezone.now()) for day in past if day not in with_orders]
    SummedDay.objects.bulk_create(idle)
    with patch.object(keeping, "LONGEST_MOVE", dt.timedelta(0)):  # yesterday, too, in the first minutes of today
        sum_days()


def sell_for_weeks() -> None:
    """Sales of XL by Sari yesterday, eight and forty days ago, as many failed, and one of another brand yesterday."""
    cashier, product = make_person("cashier", username="sari"), make_product(brand="xl", code="XL10", name="XL 10")
    for days in (1, 8, 40):
        sold(ago(days), placed_by=cashier, product=product)
        sold(ago(days), Status.FAILED, product=product)
    sold(ago(1), selling_price=30_000)
    sum_past_days()


def tiles(answer: Any) -> dict[str, str]:
    """The figures that the page shows, by their names."""
    return dict(re.findall(r'data-tile="(\w+)" data-value="([^"]*)"', answer.content.decode()))


def lines(answer: Any) -> dict[str, int]:
    """The lines that the page shows, with their sales."""
    found = re.findall(r'<tr data-key="([^"]*)" data-sales="(\d+)"', answer.content.decode())
    return {key: int(sales) for key, sales in found}
