"""Comparing the books with the upstream on demand; here, because it also hurries the orders that it waits for."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from backoffice.access import StaffRequest, staff_only
from balance.models import ReconciliationRun
from balance.presenting import told
from purchases import services


@staff_only("balance.view_difference")
@require_POST
def balance_reconcile(request: StaffRequest) -> HttpResponse:
    """Compare with the newest balance that the upstream told, and say the result."""
    run = services.reconcile_books(ReconciliationRun.Trigger.PERSON)
    messages.add_message(request, *told(run))
    return redirect("balance")
