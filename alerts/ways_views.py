"""The ways of alerts: which there are, adding one, trying them, taking one away."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from alerts.forms import FORMS, ServiceForm, way_form
from alerts.models import AddedWay
from alerts.services import add_way, send_to_all, take_way_away
from alerts.services.ways import Fault, Way, ways
from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.rights import Right
from staff.confirming import check_factor

ADD = act("add_alert_way", pgettext_lazy("audit", "Add a way of alerts"), Right.CHANGE_POLICIES)
REMOVE = act("remove_alert_way", pgettext_lazy("audit", "Take a way of alerts away"), Right.CHANGE_POLICIES)


@staff_only(Right.VIEW_ALERTS, Right.CHANGE_POLICIES)
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
def alert_ways(request: StaffRequest) -> HttpResponse:
    """Show the ways, and the form of one kind (`?kind=`). It is tried with a message, then kept (POST)."""
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
    """Take a way away that was added here."""
    way = get_object_or_404(AddedWay, pk=pk)
    with refusal_shown(request):
        check_factor(request, act=REMOVE, content={"way": pk})
        take_way_away(way, actor=request.user)
        messages.success(request, _("Nothing is sent there any more."), extra_tags="way_removed")
    return redirect("alert_ways")


@staff_only(Right.VIEW_ALERTS, Right.CHANGE_POLICIES)
@require_POST
def ways_test(request: StaffRequest) -> HttpResponse:
    """Send a test on every way, and say what became of each."""
    text = _("This is a test by %(name)s. Alerts arrive here.") % {"name": request.user.username}
    say_sent(request, send_to_all(_("Test"), text))
    return redirect("alert_ways")


def say_sent(request: HttpRequest, faults: Iterable[tuple[Way, Fault | None]]) -> None:
    """Say on the next page what became of a message on each way."""
    for way, fault in faults:
        if fault is None:
            messages.success(request, _("%(way)s: sent.") % {"way": way.name}, extra_tags="way_works")
        else:
            words = _("%(way)s: %(fault)s. Check this way.")
            messages.error(request, words % {"way": way.name, "fault": fault.label}, extra_tags="way_fails")


def _say_added(request: HttpRequest, name: str, fault: Fault | None) -> None:
    if fault is None:
        messages.success(
            request, _("%(name)s is added, and has a test message.") % {"name": name}, extra_tags="way_added"
        )
    else:
        words = _("%(name)s is added. The test message had no answer in time: look whether it arrived.")
        messages.warning(request, words % {"name": name}, extra_tags="way_unclear")
