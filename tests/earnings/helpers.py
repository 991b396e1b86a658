"""Orders of days ago."""

import datetime as dt
from typing import Any

from django.utils import timezone

from core.times import start_of_day
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order

TODAY = timezone.localdate
ONE_DAY = dt.timedelta(days=1)


def ago(days: int, hour: int = 12) -> dt.datetime:
    return start_of_day(TODAY() - days * ONE_DAY) + dt.timedelta(hours=hour)


def sold(at: dt.datetime, status: Status = Status.SUCCESS, **facts: Any) -> Order:
    ended = {"final_at": at + dt.timedelta(seconds=8)} if status not in {Status.PENDING} else {}
    return make_order(status, created_at=at, **{"price": 10_500, "selling_price": 12_000, **ended, **facts})
