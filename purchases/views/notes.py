"""Notes and tags of an order, posted from its page and from the panel beside the list."""

from typing import Any

from django.contrib import messages
from django.contrib.postgres.expressions import ArraySubquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from core.access import StaffRequest, staff_only
from core.rights import Right
from purchases import services
from purchases.errors import ActionRefused
from purchases.models import Order, Tag
from purchases.models.orders import OrderQuerySet


def notes_of(order: Order) -> dict[str, Any]:
    """The facts for `order_notes.html` of an order `with_all_tags`; its notes are read only when they are shown."""
    return {"order": order, "notes": order.notes.select_related("author")}


def with_all_tags(orders: OrderQuerySet) -> OrderQuerySet:
    """The orders with their tags, and every tag of the shop to choose from (`known_tags`)."""
    return orders.with_tags().annotate(known_tags=ArraySubquery(Tag.objects.values("name")))


@staff_only(Right.VIEW_ORDERS, Right.NOTE_ORDERS)
@require_POST
def order_note(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Write a note (`text`), put a tag on the order (`tag`), or take one off (`remove`)."""
    order = get_object_or_404(Order, ref_id=ref_id)
    refusal = ""
    try:
        if name := request.POST.get("remove"):
            services.remove_tag(order, name, actor=request.user)
        elif name := request.POST.get("tag"):
            services.put_tag(order, name, actor=request.user)
        else:
            services.write_note(order, actor=request.user, text=request.POST.get("text", ""))
    except ActionRefused as refused:
        refusal = str(refused)
    if "HX-Request" in request.headers:
        changed = with_all_tags(Order.objects.all()).get(pk=order.pk)
        return render(request, "purchases/order_notes.html", notes_of(changed) | {"refusal": refusal})
    if refusal:
        messages.error(request, refusal, extra_tags=ActionRefused.__name__)
    return redirect(order)
