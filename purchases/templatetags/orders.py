"""Template tags about orders, also for pages of other rooms (`{% load orders %}`)."""

from collections.abc import Iterable

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from approvals.services import opens_for
from core.numbers import erased_serial, text_as_seen
from purchases.incident_words import incident_words
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.states import ActionReason, Status
from staff.models import User

register = template.Library()
register.filter(incident_words)
register.filter(shown_destination)


@register.simple_tag
def status_badge(status: str) -> SafeString:
    """`{% status_badge order.status %}`: icon, word and colour of an order's status."""
    return Status(status).badge


@register.filter
def serial_seen(sn: str, order: Order) -> str:
    """`{{ verdict.sn|serial_seen:order }}`: an SN of this order, as the viewer may see it."""
    number = order.destination
    return text_as_seen(erased_serial(sn, number) if order.number_erased else sn, number)


@register.filter
def approval_for(reader: User, key: int) -> str:
    """`{{ user|approval_for:verdict.approval_id }}`: the address of this approval; "" if the reader may not open it."""
    return reverse("approval_detail", args=[key]) if opens_for(key, reader) else ""


@register.simple_tag
def orders_named(ref_ids: Iterable[str]) -> dict[str, Order]:
    """`{% orders_named run.blocking as orders %}`: the orders with these ref_ids, by ref_id."""
    return {order.ref_id: order for order in Order.objects.filter(ref_id__in=list(ref_ids))}


@register.filter
def named(orders: dict[str, Order], ref_id: str) -> Order | None:
    """`{{ orders|named:ref_id }}`: the order with this ref_id, if we have it."""
    return orders.get(ref_id)


@register.filter
def reason_named(reason: str) -> str:
    """`{{ entry.reason|reason_named }}`: the reason of an entry; a status or action reason by its label."""
    if reason in Status.values:
        return str(Status(reason).label)
    return str(ActionReason(reason).label) if reason in ActionReason.values else reason
