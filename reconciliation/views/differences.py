"""Comparisons, and differences: movements of the upstream's balance without an order, and people's decisions."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_POST

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.paging import keyset_page
from core.rights import Right
from purchases.models import Order
from reconciliation import services
from reconciliation.filters import RunFilter
from reconciliation.forms import NoteForm, ReasonForm
from reconciliation.lists import DIFFERENCES
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.presenting import shown_difference
from reconciliation.tables import DifferenceTable, RunTable
from staff.confirming import check_factor

ACKNOWLEDGE = act("acknowledge", pgettext_lazy("audit", "Acknowledge a difference"), Right.ACKNOWLEDGE_DIFFERENCES)


@staff_only(Right.VIEW_DIFFERENCES)
@require_GET
def difference_list(request: StaffRequest) -> HttpResponse:
    """Every difference ever found, open and acknowledged, newest first."""
    filtered = DIFFERENCES.found(request)
    page = keyset_page(DIFFERENCES.for_file(filtered.qs), request.GET, time_field="found_at")
    table = DifferenceTable(page.rows, columns=DIFFERENCES.columns(request.GET, request.user))
    return DIFFERENCES.show(request, {"filter": filtered, "page": page, "table": table})


@staff_only(Right.VIEW_DIFFERENCES)
@require_GET
def difference_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One difference: its facts, possible causes, and the next step or the decision."""
    return _detail(request, pk)


def _detail(request: StaffRequest, pk: int, **more: Any) -> HttpResponse:
    shown = shown_difference(pk)
    if shown is None:
        raise Http404
    context = {"shown": shown, "orders": Order.objects.in_bulk(shown.ref_ids, field_name="ref_id"), **more}
    return render(request, "reconciliation/difference_detail.html", context)


@staff_only(Right.VIEW_DIFFERENCES, Right.ACKNOWLEDGE_DIFFERENCES)
@require_POST
def difference_acknowledge(request: StaffRequest, pk: int) -> HttpResponse:
    """Take money that was added into the books."""
    difference = get_object_or_404(Difference, pk=pk)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _refused(request, pk, form)
    with refusal_shown(request):
        check_factor(request, act=ACKNOWLEDGE, content={"difference": pk})
        services.acknowledge_top_up(difference, actor=request.user, note=form.cleaned_data["note"])
        messages.success(request, _("Acknowledged: it is in the books now."))
    return redirect("difference_detail", pk=pk)


@staff_only(Right.VIEW_DIFFERENCES, Right.PROPOSE_ADJUSTMENTS)
@require_POST
def adjustment_propose(request: StaffRequest, pk: int) -> HttpResponse:
    """Propose to take missing money into the books; a second person decides."""
    difference = get_object_or_404(Difference, pk=pk)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _refused(request, pk, form)
    with refusal_shown(request):
        services.propose_adjustment(difference, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, _("Proposed. A second person has to approve it."))
    return redirect("difference_detail", pk=pk)


def _refused(request: StaffRequest, pk: int, form: forms.Form) -> HttpResponse:
    words = next(iter(form.errors.values()))[0]
    return _detail(request, pk, form_error=words)


@staff_only(Right.VIEW_RECONCILIATIONS)
@require_GET
def run_list(request: StaffRequest) -> HttpResponse:
    """The comparisons, newest first. A comparison that found nothing new is counted on the one before."""
    filtered = RunFilter(request.GET, queryset=ReconciliationRun.objects.all())
    page = keyset_page(filtered.qs, request.GET, time_field="at")
    context = {"filter": filtered, "page": page, "table": RunTable(page.rows)}
    return render(request, "reconciliation/run_list.html", context)


@staff_only(Right.VIEW_RECONCILIATIONS)
@require_GET
def run_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One comparison: the figures, their meaning, and the orders that it waited for."""
    run = get_object_or_404(ReconciliationRun, pk=pk)
    open_then = Difference.objects.filter(found_at__lte=run.at).exclude(acknowledged_at__lte=run.at)
    context = {
        "run": run,
        "open_then": open_then[:20],
        "newer": ReconciliationRun.objects.filter(pk__gt=pk).order_by("pk").first(),
        "older": ReconciliationRun.objects.filter(pk__lt=pk).order_by("-pk").first(),
    }
    return render(request, "reconciliation/run_detail.html", context)
