"""The list of due and given refunds."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.views.decorators.http import require_GET

from branches.seeing import narrowed
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from customers.services import saved_names
from drawers.filters import RefundFilter
from drawers.models import Payment
from drawers.services import open_shift_of
from drawers.tables import RefundTable

_SHOWN = ("seller", "given_by", "refund_entry__shift__drawer", "debt__account__customer")


@staff_only(Right.VIEW_ORDERS)
@require_GET
def refund_list(request: StaffRequest) -> HttpResponse:
    """The due refunds of the whole shop; by the filters in the URL also the given ones."""
    if not (request.user.has_perm(Right.USE_DRAWERS) or request.user.has_perm(Right.VIEW_SHIFTS)):
        raise PermissionDenied
    refunds = narrowed(Payment.objects.refunds().select_related(*_SHOWN).with_orders())
    filtered = RefundFilter(request.GET, queryset=refunds)
    page = keyset_page(filtered.qs, request.GET, time_field="ended_at")
    orders: list[Any] = [payment.order for payment in page.rows]  # of a room above
    sees_names = request.user.has_perm(Right.VIEW_CUSTOMERS)
    numbers = [order.destination for order in orders if sees_names and not order.number_erased]
    naming = Right.VIEW_CUSTOMERS, Right.USE_CREDIT, Right.VIEW_CREDIT
    may_name = any(request.user.has_perm(right) for right in naming)
    may_give = request.user.has_perm(Right.GIVE_BACK)
    table = RefundTable(
        page.rows,
        names=dict(saved_names(numbers)),
        may_name=may_name,
        may_give=may_give,
        shift=open_shift_of(request.user.pk) if may_give else None,
        token=get_token(request),
    )
    context = {"filter": filtered, "page": page, "table": table}
    return render(request, "drawers/refund_list.html", context)
