"""Alerts: the ones that every page shows, and the list with those that have ended."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from backoffice.access import StaffRequest, staff_only
from backoffice.paging import keyset_page
from balance.alert_words import CONCERNS, in_words
from balance.models import Alert
from balance.services import telling

ROWS = 50


@staff_only("balance.view_alert")
@require_GET
def alert_list(request: StaffRequest) -> HttpResponse:
    """Open and ended alerts that concern the person, newest first, and where they are sent."""
    kinds = [kind for kind, permission in CONCERNS.items() if request.user.has_perm(permission)]
    alerts = Alert.objects.filter(kind__in=kinds).prefetch_related("notices")
    page = keyset_page(alerts, request.GET, time_field="opened_at", size=ROWS)
    context: dict[str, Any] = {
        "rows": [{"alert": alert, "words": in_words(alert)} for alert in page.rows],
        "page": page,
        "channels": [telling.Channel(name).label for name in telling.channels()],
    }
    return render(request, "balance/alert_list.html", context)


@never_cache
@require_GET
def alerts_now(request: HttpRequest) -> HttpResponseBase:
    """The alerts of the page's head anew; nothing for who is not signed in any more: what is being typed stays."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "components/alerts.html")
