"""What the shop is to give back to customers, and what was given back."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from customers.services import names_of
from drawers import services
from drawers.filters import RefundFilter
from drawers.models import Refund
from drawers.services import USE, VIEW
from drawers.tables import RefundTable
from purchases.models import Order

_NAMES = "customers.view_customer"


@staff_only("purchases.view_order")
@require_GET
def refund_list(request: StaffRequest) -> HttpResponse:
    """What customers are to get back, of the whole shop; or, by the filters in the URL, what they got."""
    if not (request.user.has_perm(USE) or request.user.has_perm(VIEW)):
        raise PermissionDenied
    services.note_owed()
    found = RefundFilter(request.GET, queryset=Refund.objects.all())
    # The orders by themselves: joined, PostgreSQL may read all of them.
    orders = Prefetch("order", queryset=Order.objects.for_table())
    rows = found.qs.select_related("given_by", "entry__shift__drawer").prefetch_related(orders)
    page = keyset_page(rows, request.GET, time_field="since")
    names = names_of(refund.order.destination for refund in page.rows) if request.user.has_perm(_NAMES) else {}
    context = {"filter": found, "page": page, "table": RefundTable(page.rows, names=names)}
    return render(request, "drawers/refund_list.html", context)
