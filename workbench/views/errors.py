"""Errors with the upstream, in groups."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.rights import Right
from workbench.services.errors import callback_errors, exchange_errors
from workbench.tables import ErrorTable


@staff_only(Right.VIEW_EXCHANGES)
@require_GET
def error_list(request: StaffRequest) -> HttpResponse:
    """Errors of our requests by endpoint and error, and those of callbacks for people who may see callbacks."""
    sees_callbacks = request.user.has_perm(Right.VIEW_CALLBACKS)
    context = {
        "here": "errors",
        "exchanges": ErrorTable(exchange_errors(), prefix="exchange"),
        "callbacks": ErrorTable(callback_errors() if sees_callbacks else [], prefix="callback"),
        "sees_callbacks": sees_callbacks,
    }
    return render(request, "workbench/error_list.html", context)
