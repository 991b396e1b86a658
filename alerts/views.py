"""Alerts: the head of every page, and the list with those that have ended."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from alerts.filters import AlertFilter
from alerts.presenting import Head, alerts_for, head_for
from alerts.services import Pause, choose_results, send_test, show_again, snooze
from alerts.services.results import RIGHTS
from alerts.services.ways import ways
from alerts.tables import AlertTable
from alerts.ways_views import say_sent
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from staff.models import User


@staff_only(Right.VIEW_ALERTS)
@require_GET
def alert_list(request: StaffRequest) -> HttpResponse:
    """Open and ended alerts that concern the person, newest first, and where they are sent."""
    alerts = alerts_for(request.user).prefetch_related("notices")
    filtered = AlertFilter(request.GET, queryset=alerts)
    page = keyset_page(filtered.qs, request.GET, time_field="opened_at")
    context = {
        "filter": filtered,
        "table": AlertTable(page.rows, person=request.user),
        "page": page,
        "ways": [way.name for way in ways()],
    }
    return render(request, "alerts/alert_list.html", context)


@staff_only(*RIGHTS)
@require_POST
def results_choose(request: StaffRequest) -> HttpResponse:
    """Choose which results are sent."""
    choose_results(evening="evening" in request.POST, weekly="weekly" in request.POST, person=request.user)
    messages.success(request, _("Saved."), extra_tags="results_chosen")
    return redirect("preferences")


@staff_only(*RIGHTS)
@require_POST
def results_test(request: StaffRequest) -> HttpResponse:
    """Send the result of today until now, and say what became of it on each way."""
    say_sent(request, send_test(person=request.user))
    return redirect("preferences")


@staff_only()
@never_cache
@require_GET
def alerts_mine(request: StaffRequest) -> HttpResponse:
    """The open alerts that concern the person, with those that the person hid: as a page, or for the line's drawer."""
    if "HX-Request" in request.headers:
        return render(request, "alerts/lines.html", {"head": head_for(request.user), "live": True})
    return render(request, "alerts/mine.html")


@staff_only()
@require_POST
def alert_snooze(request: StaffRequest, pk: int) -> HttpResponse:
    """Hide an open alert from one's own pages (`for`: a value of `Pause`), or show it again (`for=now`)."""
    alert = get_object_or_404(alerts_for(request.user).filter(closed_at=None), pk=pk)
    wanted = request.POST.get("for", "")
    if wanted == "now":
        show_again(alert, person=request.user)
        words = _("Shown again.")
    elif wanted in Pause.values:
        snooze(alert, pause=Pause(wanted), person=request.user)
        words = _("Hidden for you. It shows again by itself, and at once if it gets worse.")
    else:
        raise Http404
    if "HX-Request" in request.headers:
        return _head_again(request, head_for(request.user), is_open=True)
    messages.success(request, words, extra_tags="snoozed")
    return redirect("alerts_mine")


def _head_again(request: HttpRequest, head: Head, *, is_open: bool = False) -> HttpResponse:
    """The head in the place of the one on the page."""
    return render(request, "alerts/head.html", {"head": head, "is_answer": True, "is_open": is_open})


@never_cache
@require_GET
def alerts_now(request: HttpRequest) -> HttpResponseBase:
    """The head of an open page again; 204 when it says what the page shows already (`seen`).

    Also 204 for a person who is signed out: the text that they are typing stays.
    """
    if not isinstance(request.user, User):
        return HttpResponse(status=204)
    head = head_for(request.user)
    if request.GET.get("seen") == head.version:
        return HttpResponse(status=204)
    return _head_again(request, head)
