"""The filters of the orders list; they live in the URL."""

from __future__ import annotations

import datetime as dt
from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _

from balance.filters import DayField
from balance.services import start_of_day
from purchases.models import Brand, Order
from purchases.models.orders import OrderQuerySet
from purchases.order_life import Status

NEEDS_SOMEONE = "attention"
OPEN_ONES = "open"


def _brands() -> list[tuple[str, str]]:
    names = (
        Brand.objects.filter(products__orders__isnull=False).values_list("name", flat=True).order_by("name").distinct()
    )
    return [(name, name) for name in names]


class DayFilter(django_filters.Filter):  # type: ignore[misc]
    """A day of the shop; one that no business can be of is no day."""

    field_class = DayField


class OrderFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Search by ref_id, destination or SN; narrow by status, day, brand and product."""

    q = django_filters.CharFilter(method="search", label=_("Search"), max_length=100)
    status = django_filters.ChoiceFilter(
        method="with_status",
        label=_("Status"),
        empty_label=_("Every status"),
        choices=[(NEEDS_SOMEONE, _("Needs someone")), (OPEN_ONES, _("Open")), *Status.choices],
    )
    since = DayFilter(method="from_day", label=_("From"))
    until = DayFilter(method="to_day", label=_("To"))
    brand = django_filters.ChoiceFilter(
        field_name="product__brand__name", label=_("Brand"), empty_label=_("Every brand"), choices=_brands
    )
    product = django_filters.CharFilter(field_name="product_code", label=_("Product code"), max_length=64)

    class Meta:
        model = Order
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.form.fields.items():
            field.widget.attrs["class"] = "form-select" if name in {"status", "brand"} else "form-control"
            if field.widget.attrs.get("type") != "date" and name not in {"status", "brand"}:
                field.widget.attrs["autocomplete"] = "off"

    def search(self, orders: OrderQuerySet, _name: str, text: str) -> OrderQuerySet:
        """By ref_id, trx_id, destination or SN."""
        return orders.matching(text)

    def with_status(self, orders: OrderQuerySet, _name: str, status: str) -> OrderQuerySet:
        """By a status, or by one of the two groups."""
        if status == NEEDS_SOMEONE:
            return orders.need_someone()
        if status == OPEN_ONES:
            return orders.open()
        return orders.filter(status=status)

    def from_day(self, orders: OrderQuerySet, _name: str, day: dt.date) -> OrderQuerySet:
        """Placed on this day (Asia/Jakarta) or later."""
        return orders.filter(created_at__gte=start_of_day(day))

    def to_day(self, orders: OrderQuerySet, _name: str, day: dt.date) -> OrderQuerySet:
        """Placed on this day (Asia/Jakarta) or earlier."""
        return orders.filter(created_at__lt=start_of_day(day + dt.timedelta(days=1)))
