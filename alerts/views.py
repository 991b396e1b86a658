"""Alerts: the head of every page, the list with those that have ended, and the ways on which they are sent."""

from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from alerts.filters import AlertFilter
from alerts.forms import FORMS, ServiceForm, way_form
from alerts.models import AddedWay
from alerts.presenting import Head, alerts_for, head_for
from alerts.services import Pause, add_way, choose_results, send_test, send_to_all, show_again, snooze, take_way_away
from alerts.services.results import RIGHTS
from alerts.services.ways import Fault, Way, ways
from alerts.tables import AlertTable
from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.paging import keyset_page
from core.rights import Right
from staff.confirming import check_factor
from staff.models import User

ADD = act("add_alert_way", pgettext_lazy("audit", "Add a way of alerts"), Right.CHANGE_POLICIES)
REMOVE = act("remove_alert_way", pgettext_lazy("audit", "Take a way of alerts away"), Right.CHANGE_POLICIES)


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
    """Send the result of today until now, and say the outcome on each way."""
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
    """The head, which replaces the one on the page."""
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


@staff_only(Right.VIEW_ALERTS, Right.CHANGE_POLICIES)
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
def alert_ways(request: StaffRequest) -> HttpResponse:
    """Show the ways, and the form of one kind (`?kind=`). POST tries the new way with a message, then keeps it."""
    kind = request.GET.get("kind", "")
    form = way_form(kind, request.POST if request.method == "POST" else None)
    refusal: Refused | None = None
    if form.is_valid():
        try:
            check_factor(request, act=ADD, content={name: request.POST.get(name, "") for name in form.fields})
            name = form.cleaned_data["name"]
            fault = add_way(form.address, name=name, host=form.host, actor=request.user)
        except Refused as refused:
            refusal = refused
        else:
            _say_added(request, name, fault)
            return redirect("alert_ways")
    return render(request, "alerts/ways.html", _context(form, refusal))


def _context(form: ServiceForm, refusal: Refused | None) -> dict[str, object]:
    added = AddedWay.objects.select_related("added_by").order_by("pk")
    keys = {row.way: row for row in added}
    used = ways()
    return {
        "rows": [(way, keys.get(way.key)) for way in used],
        "unreadable": [row for row in added if row.way not in {way.key for way in used}],
        "kinds": [(name, each.words, isinstance(form, each)) for name, each in FORMS.items()],
        "form": form,
        "refusal": refusal,
        "add": ADD,
        "add_fields": " ".join(form.fields),
        "remove": REMOVE,
    }


@staff_only(Right.VIEW_ALERTS, Right.CHANGE_POLICIES)
@require_POST
def alert_way_remove(request: StaffRequest, pk: int) -> HttpResponse:
    """Remove a way that was added here."""
    way = get_object_or_404(AddedWay, pk=pk)
    with refusal_shown(request):
        check_factor(request, act=REMOVE, content={"way": pk})
        take_way_away(way, actor=request.user)
        messages.success(request, _("Nothing is sent there any more."), extra_tags="way_removed")
    return redirect("alert_ways")


@staff_only(Right.VIEW_ALERTS, Right.CHANGE_POLICIES)
@require_POST
def ways_test(request: StaffRequest) -> HttpResponse:
    """Send a test on every way, or on one (`way`: its key), and say each outcome; `back`: the page to show."""
    text = _("This is a test by %(name)s. Alerts arrive here.") % {"name": request.user.username}
    key, back = request.POST.get("way", ""), request.POST.get("back", "")
    chosen = [way for way in ways() if key in {"", way.key}]
    if key and not chosen:
        messages.error(request, _("This way is gone."), extra_tags="way_gone")
    say_sent(request, send_to_all(_("Test"), text, on=chosen))
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours else "alert_ways")


def say_sent(request: HttpRequest, outcomes: Iterable[tuple[Way, str | Promise]]) -> None:
    """Say on the next page the outcome of a message on each way: sent, or why not."""
    for way, why in outcomes:
        if why:
            messages.error(request, f"{way.name}: {why}", extra_tags="way_fails")
        else:
            messages.success(request, _("%(way)s: sent.") % {"way": way.name}, extra_tags="way_works")


def _say_added(request: HttpRequest, name: str, fault: Fault | None) -> None:
    if fault is None:
        messages.success(
            request, _("%(name)s is added, and has a test message.") % {"name": name}, extra_tags="way_added"
        )
    else:
        words = _("%(name)s is added. The test message had no answer in time: look whether it arrived.")
        messages.warning(request, words % {"name": name}, extra_tags="way_unclear")
