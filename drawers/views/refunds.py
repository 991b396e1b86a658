"""What the shop is to give back to customers, and what was given back."""

from __future__ import annotations

import datetime as dt

from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from core import clock
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from core.together import read_together
from credit.services import USE as USE_CREDIT
from credit.services import VIEW as VIEW_CREDIT
from credit.services import standing_sales
from customers.services import names_question
from drawers import services
from drawers.filters import RefundFilter
from drawers.models import Refund
from drawers.services import USE, VIEW
from drawers.tables import RefundTable
from purchases.models import Order

_NAMES = Right.VIEW_CUSTOMERS
# What ended just now; the sweep, which looks back for days, has noted the rest.
_JUST_NOW = dt.timedelta(hours=1)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def refund_list(request: StaffRequest) -> HttpResponse:
    """What customers are to get back, of the whole shop; or, by the filters in the URL, what they got."""
    if not (request.user.has_perm(USE) or request.user.has_perm(VIEW)):
        raise PermissionDenied
    services.note_owed(clock.now() - _JUST_NOW)
    found = RefundFilter(request.GET, queryset=Refund.objects.all())
    # The orders by themselves: joined, PostgreSQL may read all of them.
    orders = Prefetch("order", queryset=Order.objects.for_table())
    rows = found.qs.select_related("given_by", "entry__shift__drawer").prefetch_related(orders)
    page = keyset_page(rows, request.GET, time_field="since")
    may_see = request.user.has_perm(_NAMES)
    numbers = [refund.order.destination for refund in page.rows] if may_see else []
    names, sales = read_together(names_question(numbers), standing_sales([refund.order.ref_id for refund in page.rows]))
    debts = {sale.ref_id: sale for sale in sales}
    may_name = any(request.user.has_perm(right) for right in (_NAMES, USE_CREDIT, VIEW_CREDIT))
    table = RefundTable(page.rows, names=dict(names), debts=debts, may_name=may_name)
    context = {"filter": found, "page": page, "table": table}
    return render(request, "drawers/refund_list.html", context)
