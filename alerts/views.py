"""Alerts: the head of every page, and the list with those that have ended."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from alerts.filters import AlertFilter
from alerts.models import Alert
from alerts.presenting import head_for, kinds_for
from alerts.services.ways import ways
from alerts.tables import AlertTable
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from staff.models import User


@staff_only("alerts.view_alert")
@require_GET
def alert_list(request: StaffRequest) -> HttpResponse:
    """Open and ended alerts that concern the person, newest first, and where they are sent."""
    alerts = Alert.objects.filter(kind__in=kinds_for(request.user)).prefetch_related("notices")
    found = AlertFilter(request.GET, queryset=alerts)
    page = keyset_page(found.qs, request.GET, time_field="opened_at")
    context = {
        "filter": found,
        "table": AlertTable(page.rows, person=request.user),
        "page": page,
        "ways": [way.name for way in ways()],
    }
    return render(request, "alerts/alert_list.html", context)


@never_cache
@require_GET
def alerts_now(request: HttpRequest) -> HttpResponseBase:
    """The head of an open page again; 204 when it says what the page shows already (`seen`).

    Also 204 for who is not signed in any more: what is being typed stays.
    """
    if not isinstance(request.user, User):
        return HttpResponse(status=204)
    head = head_for(request.user)
    if request.GET.get("seen") == head.version:
        return HttpResponse(status=204)
    return render(request, "alerts/head.html", {"head": head, "is_answer": True})
