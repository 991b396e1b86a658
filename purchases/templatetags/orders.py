"""Template tags about orders, also for pages of other rooms (`{% load orders %}`)."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from purchases.models import Order

register = template.Library()


@register.simple_tag
def orders_named(ref_ids: Iterable[str]) -> dict[str, Order]:
    """`{% orders_named run.blocking as orders %}`: the orders with these ref_ids, by ref_id."""
    return {order.ref_id: order for order in Order.objects.filter(ref_id__in=list(ref_ids))}


@register.filter
def named(orders: dict[str, Order], ref_id: str) -> Order | None:
    """`{{ orders|named:ref_id }}`: the order with this ref_id, if we have it."""
    return orders.get(ref_id)
