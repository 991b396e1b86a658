"""Orders: the list, one order live, and what a person may do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from backoffice.access import StaffRequest, staff_only
from backoffice.paging import keyset_page
from purchases import services
from purchases.errors import BalanceShort, NotForSale, NotPossible, PriceMoved
from purchases.filters import OrderFilter
from purchases.forms import NeededNoteForm, NoteForm, PriceForm
from purchases.models import Incident, Order
from purchases.order_life import ASKED_ABOUT, HoldReason, Status
from purchases.presenting import seconds_until_next_look, serial_number, shown_destination

ROWS = 50


def _orders() -> QuerySet[Order]:
    return Order.objects.select_related("product__brand", "product__category", "placed_by")


def _row(order: Order) -> dict[str, Any]:
    return {"order": order, "destination": shown_destination(order), "serial": serial_number(order)}


@staff_only("purchases.view_order")
@require_GET
def order_list(request: StaffRequest) -> HttpResponse:
    """The orders that the filters in the URL leave, newest first, 50 a page."""
    query = request.GET.copy()
    for name in query:
        query[name] = query.get(name, "").replace("\0", "")  # PostgreSQL refuses a NUL
    found = OrderFilter(query, queryset=_orders())
    page = keyset_page(found.qs, query, size=ROWS)
    context = {
        "filter": found,
        "rows": [_row(order) for order in page.rows],
        "page": page,
        "is_filtered": bool(page.kept),
        "watched": _watched(page.rows),
        "delay": 3,
    }
    return render(request, "purchases/order_list.html", context)


def _watched(orders: list[Order]) -> str:
    """What the list asks about again: each open order on the page, with the status that is shown."""
    return ",".join(f"{order.pk}:{order.status}" for order in orders if not order.is_final)


@staff_only("purchases.view_order")
@require_GET
def order_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and when to ask next."""
    shown: dict[int, str] = {}
    for pair in request.GET.get("watched", "").split(",")[:ROWS]:
        pk, _colon, status = pair.partition(":")
        if pk.isascii() and pk.isdecimal() and len(pk) < 19:
            shown[int(pk)] = status
    orders = list(_orders().filter(pk__in=shown))
    changed = [order for order in orders if shown[order.pk] != order.status]
    given = request.GET.get("delay", "")
    waited = int(given) if given.isascii() and given.isdecimal() and len(given) < 4 else 2
    context = {
        "rows": [_row(order) for order in changed],
        "watched": _watched(orders),
        "delay": 2 if changed else min(waited + 1, 10),
    }
    return render(request, "purchases/order_list.html#live", context)


@staff_only("purchases.view_order")
@require_GET
def order_detail(request: StaffRequest, ref_id: str) -> HttpResponse:
    """One order with its timeline; while it is open it follows the status by itself."""
    return render(request, "purchases/order_detail.html", _detail(request, ref_id))


@staff_only("purchases.view_order")
@require_GET
def order_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """When to ask next, and the order anew if it is not as the page shows it (`seen`)."""
    context = _detail(request, ref_id)
    context["is_new"] = request.GET.get("seen") != context["version"]
    return render(request, "purchases/order_detail.html#live", context)


def _detail(request: StaffRequest, ref_id: str) -> dict[str, Any]:
    order = get_object_or_404(_orders(), ref_id=ref_id)
    events = list(order.events.select_related("actor"))
    incidents = list(order.incidents.select_related("closed_by"))
    open_incidents = [incident for incident in incidents if incident.closed_at is None]
    last_change = events[-1].at if events else order.created_at
    may_resolve = request.user.has_perm("purchases.resolve_order")
    never_arrived = order.hold_reason == HoldReason.NEVER_ARRIVED
    held = order.status == Status.HELD
    is_bill = order.kind == Order.Kind.BILL
    waits_for_topup = held and order.waits_for_topup and order.hold_reason == HoldReason.BALANCE_SHORT
    price_now = order.max_price if is_bill else order.product.price
    return {
        **_row(order),
        "events": events,
        "incidents": incidents,
        "open_incidents": open_incidents,
        "version": f"{order.status}.{len(events)}.{order.checks}.{len(incidents)}.{len(open_incidents)}.{price_now}",
        "delay": seconds_until_next_look(order, last_change=last_change),
        "may_resolve": may_resolve,
        "may_check": order.status in ASKED_ABOUT and (may_resolve or request.user.has_perm("purchases.buy")),
        "may_cancel": may_resolve and (order.status == Status.QUEUED or (held and not never_arrived)),
        "is_bill": is_bill,
        # A bill is paid again by its own rules, after a new look at its total.
        "may_send_again": may_resolve and held and not is_bill,
        "may_close": may_resolve and held and never_arrived,
        "price_now": price_now,
        "price_has_risen": price_now > order.max_price,
        "waits_for_topup": waits_for_topup,
        "needs_resolver": held and not may_resolve and not is_bill and not waits_for_topup,
    }


def _cancel(request: StaffRequest, order: Order) -> str:
    services.cancel_order(order, actor=request.user, note=_note(request))
    return _("Order cancelled. Nothing was charged.")


def _send_again(request: StaffRequest, order: Order) -> str:
    form = PriceForm(request.POST)
    services.send_again(order, actor=request.user, max_price=form.cleaned_data["price"] if form.is_valid() else None)
    return _("Queued again, under the same ref_id.")


def _close(request: StaffRequest, order: Order) -> str:
    services.close_never_arrived(order, actor=request.user, note=_note(request))
    return _("Order closed as failed.")


def _check(request: StaffRequest, order: Order) -> str:
    if services.check_now(order, actor=request.user):
        return _("Asking the upstream now.")
    return _("The queue cannot be reached; the order is asked about with the next sweep.")


def _note(request: StaffRequest) -> str:
    form = NoteForm(request.POST)
    return str(form.cleaned_data["note"]) if form.is_valid() else ""


ACTIONS: dict[str, tuple[Callable[[StaffRequest, Order], str], tuple[str, ...]]] = {
    "cancel": (_cancel, ("purchases.resolve_order",)),
    "again": (_send_again, ("purchases.resolve_order",)),
    "close": (_close, ("purchases.resolve_order",)),
    "check": (_check, ("purchases.resolve_order", "purchases.buy")),
}


@staff_only("purchases.view_order")
@require_POST
def order_act(request: StaffRequest, ref_id: str, action: str) -> HttpResponse:
    """Do `action` for somebody who holds one of its permissions, say what came of it, and show the order."""
    if action not in ACTIONS:
        raise Http404
    act, permissions = ACTIONS[action]
    if not any(request.user.has_perm(permission) for permission in permissions):
        raise PermissionDenied
    order = get_object_or_404(Order, ref_id=ref_id)
    try:
        messages.success(request, act(request, order))
    except (NotPossible, BalanceShort, NotForSale, PriceMoved) as refusal:
        messages.error(request, str(refusal))
    return redirect(order)


@staff_only("purchases.view_order", "purchases.resolve_order")
@require_POST
def incident_close(request: StaffRequest, ref_id: str, pk: int) -> HttpResponse:
    """Mark an incident as looked into; a finding in words is needed."""
    incident = get_object_or_404(Incident, pk=pk, order__ref_id=ref_id)
    form = NeededNoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Write what you found first."))
        return redirect(incident.order)
    try:
        services.close_incident(incident, actor=request.user, note=form.cleaned_data["note"])
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Incident closed."))
    return redirect(incident.order)
