"""The pages of exchanges: the list, one exchange with request and answer, and errors in groups."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from bills.models import BillCheck
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from gateway.models import Exchange
from policies.services import policies
from purchases.models import Order
from workbench.filters import ExchangeFilter
from workbench.presenting import exchanges as presenting
from workbench.services.errors import callback_errors, exchange_errors
from workbench.tables import ErrorTable, ExchangeTable


@staff_only(Right.VIEW_EXCHANGES)
@require_GET
def exchange_list(request: StaffRequest) -> HttpResponse:
    """The exchanges that match the filters in the URL, newest first, 50 a page."""
    filtered = ExchangeFilter(request.GET, queryset=Exchange.objects.without_bodies())
    page = keyset_page(filtered.qs, request.GET, time_field="sent_at")
    context = {
        "filter": filtered,
        "page": page,
        "table": ExchangeTable(page.rows),
        "here": "exchanges",
        "kept_days": policies().exchanges_kept_days,
    }
    return render(request, "workbench/exchange_list.html", context)


@staff_only(Right.VIEW_EXCHANGES)
@require_GET
def exchange_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One exchange: its facts, and the request beside the answer."""
    exchange = get_object_or_404(Exchange, pk=pk)
    order = Order.objects.filter(ref_id=exchange.ref_id).first() if exchange.ref_id else None
    check = BillCheck.objects.filter(ref_id=exchange.ref_id).first() if exchange.ref_id else None
    numbers = presenting.numbers_of(exchange, *(about.destination for about in (order, check) if about))
    context = {
        "exchange": exchange,
        "title": presenting.endpoint_words(exchange.endpoint),
        "badge": presenting.result_of(exchange.error).badge,
        "error_words": presenting.error_words(exchange.error),
        "asked": presenting.request_body(exchange, numbers),
        "answered": presenting.answer_body(exchange, numbers),
        "is_short": presenting.is_short(exchange),
        "latency": presenting.milliseconds(exchange.latency_ms),
        "waited": presenting.milliseconds(exchange.waited_ms),
        "order": order,
        "check": check,
    }
    return render(request, "workbench/exchange_detail.html", context)


@staff_only(Right.VIEW_EXCHANGES)
@require_GET
def error_list(request: StaffRequest) -> HttpResponse:
    """The errors of our requests by endpoint and error, and those of callbacks for people who may see callbacks."""
    sees_callbacks = request.user.has_perm(Right.VIEW_CALLBACKS)
    context = {
        "here": "errors",
        "exchanges": ErrorTable(exchange_errors(), prefix="exchange"),
        "callbacks": ErrorTable(callback_errors() if sees_callbacks else [], prefix="callback"),
        "sees_callbacks": sees_callbacks,
    }
    return render(request, "workbench/error_list.html", context)
