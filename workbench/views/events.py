"""The activity log: the list, and its files."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from audit.flaws import Flaw
from audit.models import AuditEvent, Sealing
from branches.seeing import narrowed
from core.access import StaffRequest, staff_only
from core.numbers import may_take_whole
from core.paging import keyset_page
from core.periods import Period
from core.rights import Right
from exports.lists import ListFile
from staff.models import User
from workbench.filters import AuditFilter
from workbench.tables import AuditTable


def _found(request: StaffRequest) -> AuditFilter:
    return AuditFilter(request.GET, queryset=AuditEvent.objects.select_related("person"))


def _elsewhere(filtered: AuditFilter, reader: User) -> dict[str, Any] | None:
    """Lists of acts that this log does not have, for the filter's person and days; None without a person."""
    chosen = filtered.form.cleaned_data if filtered.form.is_valid() else {}
    named = narrowed(User.objects.filter(username__iexact=chosen.get("person") or ""), "branch")
    person = named.first() if chosen.get("person") else None
    if person is None:
        return None
    first, last = chosen.get("since"), chosen.get("until")
    if chosen.get("days"):
        first, last = Period(chosen["days"]).days(timezone.localdate())
    days = {name: day.isoformat() for name, day in (("since", first), ("until", last)) if day}
    lists = (
        (Right.VIEW_ORDERS, "order_list", _("Orders"), {"cashier": person.username}),
        (Right.VIEW_SHIFTS, "shift_list", _("Shifts"), {"cashier": person.pk}),
    )
    seen = [
        (name, words, f"{reverse(name)}?{urlencode(query | days)}")
        for right, name, words, query in lists
        if reader.has_perm(right)
    ]
    return {"person": person, "lists": seen} if seen else None


def _show(request: StaffRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    sealing = Sealing.objects.first()
    flaw = Flaw(**sealing.flaw) if sealing and sealing.flaw else None
    context |= {"here": "audit", "verified_at": sealing and sealing.verified_at, "flaw": flaw}
    return render(request, "workbench/audit_list.html", context, status=status)


FILE = ListFile(
    name="audit",
    words=gettext_lazy("Activity log"),
    task="workbench.tasks.write_audit",
    rights=(Right.VIEW_AUDIT,),
    fields=AuditTable.export,
    table=AuditTable,
    show=_show,
    whole_fields=AuditTable.export_whole,
    find=lambda query, _reader: AuditFilter(query, queryset=AuditEvent.objects.all()),
)


@staff_only(Right.VIEW_AUDIT)
@require_GET
def audit_list(request: StaffRequest) -> HttpResponse:
    """The events that match the filters in the URL, newest first, 50 a page."""
    filtered = _found(request)
    page = keyset_page(filtered.qs, request.GET, time_field="at")
    context = {"filter": filtered, "page": page, "table": AuditTable(page.rows, reader=request.user)}
    context["elsewhere"] = _elsewhere(filtered, request.user)
    return _show(request, context | {"may_take_whole": may_take_whole(request.user)})


@staff_only(Right.VIEW_AUDIT)
@require_http_methods(["GET", "POST"])
def audit_csv(request: StaffRequest) -> HttpResponseBase:
    """The filtered events as CSV, sent while they are read; a worker makes a long file (POST)."""
    return FILE.csv(request, _found(request))


@staff_only(Right.VIEW_AUDIT)
@require_http_methods(["GET", "POST"])
def audit_xlsx(request: StaffRequest) -> HttpResponseBase:
    """The filtered events as a workbook; a worker makes a long file (POST)."""
    return FILE.xlsx(request, _found(request))


@staff_only(Right.VIEW_AUDIT)
@require_http_methods(["GET", "POST"])
def audit_whole(request: StaffRequest) -> HttpResponseBase:
    """A file of the filtered events with customers' full numbers; it takes a second factor."""
    return FILE.whole(request, _found(request), back=reverse("audit_list"))
