"""Acts on several orders of the list: the ticked ones, or all of the filter."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from audit.services import record
from branches.seeing import narrowed
from catalogue.rights import sees_cost
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.paging import kept_filters
from core.rights import Right
from exports.events import EXPORT_MADE
from exports.formats import csv_answer
from purchases.lists import ORDERS
from purchases.models import Order
from purchases.services.bulk import MOST_AT_ONCE, Bulk, bulk_acts_of, check_release, each, poll_soon, release
from purchases.services.notes import put_tag, tag_name
from purchases.views.receipts import receipts_address


@staff_only(Right.VIEW_ORDERS)
@require_POST
def order_bulk(request: StaffRequest) -> HttpResponseBase:
    """Do one act (`act`) to the ticked orders (`order`), or to `every` one of the filter, and say each result.

    Orders are sent again only with `confirmed`; without it the page asks first.
    """
    acts = bulk_acts_of(request.user)
    if not acts:
        raise PermissionDenied
    act = request.POST.get("act")
    if act not in acts:
        return HttpResponseBadRequest()
    filtered = ORDERS.found(request)
    every = narrowed(Order.objects.all(), "payment__branch")
    ticked = every.filter(ref_id__in=request.POST.getlist("order")[:MOST_AT_ONCE])
    found = filtered.qs if "every" in request.POST else ticked
    orders = list(ORDERS.for_file(found).order_by("-created_at", "-pk")[:MOST_AT_ONCE])
    back = f"{reverse('order_list')}?{kept_filters(request.GET).urlencode()}"
    if not orders or not filtered.is_valid():
        messages.error(request, filtered.faults or _("Tick orders first."), extra_tags="none_ticked")
        return redirect(back)
    if act == Bulk.FILE:
        record(EXPORT_MADE, actor=request.user, subject="orders", facts={"format": "csv", "rows": len(orders)})
        fields = ORDERS.fields(request.GET, request.user)
        return csv_answer(orders, fields, f"orders-{timezone.localtime():%Y-%m-%d-%H%M}.csv")
    if act == Bulk.PRINT:
        return redirect(receipts_address(orders))
    shown = {"act": Bulk(act), "back": back}
    if act == Bulk.RELEASE and "confirmed" not in request.POST:
        checked = each(orders, partial(check_release, actor=request.user), actor=request.user)
        if to_send := [result.order for result in checked if not result.refusal]:
            question = {"to_send": to_send, "left_out": [result for result in checked if result.refusal]}
            question["cost"] = sum(order.max_price for order in to_send) if sees_cost(request.user) else None
            return render(request, "purchases/order_bulk_release.html", shown | question)
        results = checked
    else:
        results = []
        with refusal_shown(request):
            results = each(orders, _act(request, Bulk(act)), actor=request.user)
    return render(request, "purchases/order_bulk.html", shown | {"results": results}) if results else redirect(back)


def _act(request: StaffRequest, act: Bulk) -> Callable[[Order], object]:
    """The act on each order. Raises `ActionRefused` for an invalid tag."""
    if act == Bulk.TAG:
        name = tag_name(request.POST.get("tag", ""))
        return lambda order: put_tag(order, name, actor=request.user)
    service = poll_soon if act == Bulk.POLL else release
    return lambda order: service(order, actor=request.user)
