"""The comparisons of the books with the upstream's balance: the list, and one with what it waited for."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right
from reconciliation.filters import RunFilter
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.tables import RunTable


@staff_only(Right.VIEW_RECONCILIATIONS)
@require_GET
def run_list(request: StaffRequest) -> HttpResponse:
    """The comparisons, newest first. One that found nothing new is counted on the one before."""
    filtered = RunFilter(request.GET, queryset=ReconciliationRun.objects.all())
    page = keyset_page(filtered.qs, request.GET, time_field="at")
    context = {"filter": filtered, "page": page, "table": RunTable(page.rows)}
    return render(request, "reconciliation/run_list.html", context)


@staff_only(Right.VIEW_RECONCILIATIONS)
@require_GET
def run_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One comparison: the figures, what they mean, and which orders it waited for."""
    run = get_object_or_404(ReconciliationRun, pk=pk)
    open_then = Difference.objects.filter(found_at__lte=run.at).exclude(acknowledged_at__lte=run.at)
    context = {
        "run": run,
        "open_then": open_then[:20],
        "newer": ReconciliationRun.objects.filter(pk__gt=pk).order_by("pk").first(),
        "older": ReconciliationRun.objects.filter(pk__lt=pk).order_by("-pk").first(),
    }
    return render(request, "reconciliation/run_detail.html", context)
