"""The overview: what a shop wants to know at a glance, and what waits for a person."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from catalogue.models import CatalogueSync, Product
from catalogue.services import request_catalogue_sync
from core.access import StaffRequest, staff_only
from core.live import Live, expect_news
from gateway.services import latest_reading, limit_use, request_balance_reading
from ledger.presenting import Funds
from purchases.models import Incident, Order
from purchases.states import Status
from purchases.tables import OrderTable
from reconciliation.services import latest_run

# With nothing under way the page asks this often (seconds).
_REST = 30
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
    """Show the overview; it keeps itself fresh."""
    return render(request, "backoffice/overview.html", _facts(request))


@staff_only()
@require_GET
def overview_live(request: StaffRequest) -> HttpResponse:
    """When to ask next, and the overview when it is not as the page shows it."""
    return render(request, "backoffice/overview.html#live", _facts(request))


@staff_only("purchases.view_order", "gateway.read_balance")
@require_POST
def balance_refresh(request: StaffRequest) -> HttpResponse:
    """Have the balance read now."""
    _say(request, request_balance_reading(), _("Reading the balance…"))
    return redirect("overview")


@staff_only("catalogue.view_product", "catalogue.sync_catalogue")
@require_POST
def catalogue_sync(request: StaffRequest) -> HttpResponse:
    """Have the catalogue fetched now; back to the page of ours that `next` names."""
    _say(request, request_catalogue_sync(), _("Fetching the catalogue…"))
    back = request.POST.get("next", "")
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return HttpResponseRedirect(back if is_ours else reverse("overview"))


def _say(request: StaffRequest, queued: bool, words: str) -> None:
    if queued:
        expect_news(request)
        messages.success(request, words)
    else:
        messages.error(request, _("The queue cannot be reached just now; it is done by itself a little later."))


def _facts(request: StaffRequest) -> dict[str, Any]:
    now = timezone.now()
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    facts: dict[str, Any] = {"today": today.date()}
    shown: list[object] = []
    if request.user.has_perm("purchases.view_order"):
        facts |= _order_facts(today)
        shown += [facts["reading"] and facts["reading"].pk, [c.count for c in facts["counts"]]]
        shown += [[(order.pk, order.status) for order in facts[name].rows] for name in ("waiting", "latest")]
        shown += [[incident.pk for incident in facts["incidents"]]]
    if request.user.has_perm("ledger.view_books"):
        funds, run = Funds.now(), latest_run()
        facts |= {"funds": funds, "run": run}
        shown += [funds.available, funds.books.reserved, run and run.state]
    if request.user.has_perm("catalogue.view_product"):
        facts |= _catalogue_facts(now)
        shown += [(sync.pk, sync.result) for sync in (facts["last_sync"], facts["last_good_sync"]) if sync]
    is_busy = facts.get("open_count") or facts.get("sync_runs")
    over = [] if is_busy else ["overview"]
    return facts | {"live": Live(request, reverse("overview_live"), {"overview": shown}, over=over, rest=_REST)}


def _order_facts(today: dt.datetime) -> dict[str, Any]:
    counted = dict(Order.objects.filter(created_at__gte=today).values_list("status").annotate(n=Count("pk")).order_by())
    orders = Order.objects.for_table()
    return {
        "reading": latest_reading(),
        "limit": limit_use(),
        "counts": [StatusCount(status, counted.get(status, 0)) for status in Status if counted.get(status)],
        "today_count": sum(counted.values()),
        "open_count": Order.objects.open().count(),
        "waiting": OrderTable(orders.need_attention().order_by("created_at")[:20], prefix="waiting"),
        "latest": OrderTable(orders.order_by("-created_at", "-pk")[:8]),
        "incidents": list(Incident.objects.filter(closed_at__isnull=True).select_related("order")[:20]),
    }


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
