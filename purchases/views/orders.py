"""The list of orders."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from catalogue.rights import sees_cost
from core.access import StaffRequest, staff_only
from core.live import Live, seen_keys
from core.paging import keyset_page
from core.rights import Right
from purchases.filters import OrderFilter
from purchases.models import Order
from purchases.tables import OrderTable


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list(request: StaffRequest) -> HttpResponse:
    """The orders that the filters in the URL leave, newest first, 50 a page; it follows those that are open."""
    filtered = OrderFilter(request.GET, queryset=Order.objects.all())
    page = keyset_page(filtered.qs, request.GET, shown=Order.objects.for_table())
    table = OrderTable(page.rows, person=request.user, with_cost=sees_cost(request.user))
    context = {"filter": filtered, "page": page, "table": table, "live": _live(request, page.rows)}
    return render(request, "purchases/order_list.html", context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and when to ask next."""
    orders = list(Order.objects.for_table().filter(pk__in=seen_keys(request, "row")))
    live = _live(request, orders)
    news = [order for order in orders if f"row-{order.pk}" in live.news]
    changed = OrderTable(news, person=request.user, with_cost=sees_cost(request.user))
    return render(request, "components/live_rows.html", {"live": live, "table": changed})


def _live(request: StaffRequest, orders: list[Order]) -> Live:
    """Follow the orders of a list until they are final."""
    return Live(
        request,
        reverse("order_list_live"),
        {f"row-{order.pk}": order.status for order in orders},
        over={f"row-{order.pk}" for order in orders if order.is_final},
    )
