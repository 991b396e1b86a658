"""The filters of the orders list; they live in the URL."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalogue.filters import brand_names
from catalogue.models import Product
from core.filters import ListFilter, SearchFilter, SinceFilter, UntilFilter
from core.numbers import sees_whole_numbers
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.states import Status

NEEDS_ATTENTION = "attention"
OPEN_ONES = "open"


class OfOrderFilter(ListFilter):
    """Rows that belong to one order each (`order`), searched by that order."""

    q = SearchFilter(label=_("ref_id, number or SN"))

    def search(self, rows: QuerySet[Any], _name: str, text: str) -> QuerySet[Any]:
        """The rows of orders with this ref_id, number or SN."""
        orders = Order.objects.matching(text, by_part=sees_whole_numbers())
        return rows.filter(order__in=orders.values("pk"))


class OrderFilter(ListFilter):
    """Search by ref_id, destination or SN; narrow by status, day, brand and product."""

    seldom = ("product",)

    q = SearchFilter(label=_("ref_id, number or SN"))
    status = django_filters.ChoiceFilter(
        method="with_status",
        label=_("Status"),
        empty_label=_("Every status"),
        choices=[(NEEDS_ATTENTION, _("Needs attention")), (OPEN_ONES, _("Open")), *Status.choices],
    )
    brand = django_filters.ChoiceFilter(
        method="of_brand", label=_("Brand"), empty_label=_("Every brand"), choices=brand_names
    )
    since = SinceFilter(field_name="created_at", label=_("From"))
    until = UntilFilter(field_name="created_at", label=_("To"))
    product = django_filters.CharFilter(field_name="product_code", label=_("Product code"), max_length=64)

    class Meta:
        model = Order
        fields: list[str] = []

    def search(self, orders: OrderQuerySet, _name: str, text: str) -> OrderQuerySet:
        """By ref_id, trx_id, destination or SN."""
        return orders.matching(text, by_part=sees_whole_numbers())

    def of_brand(self, orders: OrderQuerySet, _name: str, brand: str) -> OrderQuerySet:
        """By the name of a brand, in every category."""
        products = Product.objects.filter(brand__name=brand).values_list("pk", flat=True)
        return orders.filter(product__in=list(products))

    def with_status(self, orders: OrderQuerySet, _name: str, status: str) -> OrderQuerySet:
        """By a status, or by one of the two groups."""
        if status == NEEDS_ATTENTION:
            return orders.need_attention()
        if status == OPEN_ONES:
            return orders.open()
        return orders.filter(status=status)
