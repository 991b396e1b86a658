"""The number of recent sales of each product, and their profit."""

import datetime as dt

from django.utils import timezone

from core.times import start_of_day
from earnings.services.figures import Period, figures_by

#: The number of days that count, today included.
DAYS = 30


def sold_lately(now: dt.datetime) -> dict[int, tuple[int, int]]:
    """By the key of the product, how many of its orders of the last days, with today, arrived, and their profit in
    rupiah."""
    since = start_of_day(timezone.localdate(now) - dt.timedelta(days=DAYS - 1))
    figures = figures_by("product", Period(since, now))
    return {product: (figure.sold, figure.profit) for product, figure in figures.items() if figure.sold}
