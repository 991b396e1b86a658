"""The overview: what a shop wants to know at a glance, and what waits for a person."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from backoffice.access import StaffRequest, staff_only
from balance.presenting import Funds
from balance.services import latest_reading, latest_run, request_balance_reading
from purchases.models import CatalogueSync, Incident, Order, Product
from purchases.order_life import Status
from purchases.presenting import serial_number, shown_destination
from purchases.services import request_catalogue_sync

# How long after a press of a button the page looks for the result every two seconds.
_AWAITED = dt.timedelta(seconds=20)
# A sync that "runs" for longer than this was interrupted.
_LONGEST_SYNC = dt.timedelta(minutes=5)


@dataclass(frozen=True)
class StatusCount:
    """How many of today's orders have a status."""

    status: Status
    count: int


@staff_only()
@require_GET
def overview(request: StaffRequest) -> HttpResponse:
    """Show the overview; it keeps itself fresh while anything is under way."""
    return render(request, "backoffice/overview.html", _facts(request))


@staff_only()
@require_GET
def overview_live(request: StaffRequest) -> HttpResponse:
    """When to ask next, and the overview anew if it is not as the page shows it (`seen`)."""
    facts = _facts(request)
    facts["is_new"] = request.GET.get("seen") != facts["version"]
    return render(request, "backoffice/overview.html#live", facts)


@staff_only("purchases.view_order")
@require_POST
def balance_refresh(request: StaffRequest) -> HttpResponse:
    """Have the balance read anew."""
    _await_answer(request, request_balance_reading(), _("Reading the balance…"))
    return redirect("overview")


@staff_only("purchases.view_product")
@require_POST
def catalogue_sync(request: StaffRequest) -> HttpResponse:
    """Have the catalogue fetched anew; back to the page of ours that `next` names."""
    _await_answer(request, request_catalogue_sync(), _("Fetching the catalogue…"))
    back = request.POST.get("next", "")
    return redirect(back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else "overview")


def _await_answer(request: StaffRequest, queued: bool, words: str) -> None:
    if queued:
        request.session["overview_awaits_until"] = (timezone.now() + _AWAITED).timestamp()
        messages.success(request, words)
    else:
        messages.error(request, _("The queue cannot be reached just now; it is done by itself a little later."))


def _facts(request: StaffRequest) -> dict[str, Any]:
    now = timezone.now()
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    facts: dict[str, Any] = {"today": today.date(), "is_new": False}
    seen: list[object] = []
    if request.user.has_perm("purchases.view_order"):
        facts |= _order_facts(today)
        seen += [facts["reading"] and facts["reading"].pk, [c.count for c in facts["counts"]]]
        seen += [[(row["order"].pk, row["order"].status) for row in facts[name]] for name in ("waiting", "latest")]
        seen += [[incident.pk for incident in facts["incidents"]]]
    if request.user.has_perm("balance.view_books"):
        funds, run = Funds.now(), latest_run()
        facts |= {"funds": funds, "run": run}
        seen += [funds.available, funds.books.held, run and run.state]
    if request.user.has_perm("purchases.view_product"):
        facts |= _catalogue_facts(now)
        seen += [(sync.pk, sync.result) for sync in (facts["last_sync"], facts["last_good_sync"]) if sync]
    # Names the state that the page shows; relative times are kept fresh by its script.
    facts["version"] = hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
    is_awaited = request.session.get("overview_awaits_until", 0) > now.timestamp()
    is_busy = bool(facts.get("open_count")) or facts.get("sync_runs")
    facts["delay"] = 2 if is_awaited or facts.get("sync_runs") else 5 if is_busy else 30
    return facts


def _order_facts(today: dt.datetime) -> dict[str, Any]:
    counted = dict(Order.objects.filter(created_at__gte=today).values_list("status").annotate(n=Count("pk")).order_by())
    orders = Order.objects.select_related("product__brand", "product__category")
    return {
        "reading": latest_reading(),
        "counts": [StatusCount(status, counted.get(status, 0)) for status in Status if counted.get(status)],
        "today_count": sum(counted.values()),
        "open_count": Order.objects.open().count(),
        "waiting": [_row(order) for order in orders.need_someone().order_by("created_at")[:20]],
        "latest": [_row(order) for order in orders.order_by("-created_at", "-pk")[:8]],
        "incidents": list(Incident.objects.filter(closed_at__isnull=True).select_related("order")[:20]),
    }


def _row(order: Order) -> dict[str, Any]:
    return {"order": order, "destination": shown_destination(order), "serial": serial_number(order)}


def _catalogue_facts(now: dt.datetime) -> dict[str, Any]:
    last = CatalogueSync.objects.first()
    return {
        "product_count": Product.objects.listed().count(),
        "last_sync": last,
        "sync_runs": last is not None
        and last.result == CatalogueSync.Result.RUNNING
        and last.started_at > now - _LONGEST_SYNC,
        "last_good_sync": CatalogueSync.objects.filter(result=CatalogueSync.Result.DONE).first(),
    }
