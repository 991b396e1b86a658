"""The filters of the orders list; they live in the URL."""

from __future__ import annotations

import django_filters
from django.utils.translation import gettext_lazy as _

from catalogue.models import Brand
from core.filters import ListFilter, SearchFilter, SinceFilter, UntilFilter
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.states import Status

NEEDS_ATTENTION = "attention"
OPEN_ONES = "open"


def _brands() -> list[tuple[str, str]]:
    names = (
        Brand.objects.filter(products__orders__isnull=False).values_list("name", flat=True).order_by("name").distinct()
    )
    return [(name, name) for name in names]


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
        field_name="product__brand__name", label=_("Brand"), empty_label=_("Every brand"), choices=_brands
    )
    since = SinceFilter(field_name="created_at", label=_("From"))
    until = UntilFilter(field_name="created_at", label=_("To"))
    product = django_filters.CharFilter(field_name="product_code", label=_("Product code"), max_length=64)

    class Meta:
        model = Order
        fields: list[str] = []

    def search(self, orders: OrderQuerySet, _name: str, text: str) -> OrderQuerySet:
        """By ref_id, trx_id, destination or SN."""
        return orders.matching(text)

    def with_status(self, orders: OrderQuerySet, _name: str, status: str) -> OrderQuerySet:
        """By a status, or by one of the two groups."""
        if status == NEEDS_ATTENTION:
            return orders.need_attention()
        if status == OPEN_ONES:
            return orders.open()
        return orders.filter(status=status)
