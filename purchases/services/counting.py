"""The best-selling products, counted in the background: no page waits for it."""

from __future__ import annotations

import datetime as dt

from django.db.models import Count
from django.utils import timezone

from catalogue.services import note_bought
from purchases.models import Order

_LATELY = dt.timedelta(days=30)
# However busy the shop is, so many of its last orders say what is bought most.
_LAST_ORDERS = 20_000


def count_what_is_bought() -> None:
    """Count the last orders (of 30 days, 20,000 at most) of each product: the pages offer those first."""
    last = Order.objects.filter(created_at__gte=timezone.now() - _LATELY).order_by("-created_at", "-pk")
    same = Order.objects.filter(pk__in=last.values("pk")[:_LAST_ORDERS]).order_by()
    note_bought(dict(same.values_list("product").annotate(count=Count("pk"))))
