"""The customers who owe money, by age of the debt."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from audit.services import record
from core.access import StaffRequest, staff_only
from core.paging import FirstPages
from core.rights import Right
from credit import services
from credit.filters import AgeingFilter
from credit.models import CreditAccount
from credit.tables import AgeingTable, file_fields
from exports.events import EXPORT_MADE
from exports.formats import csv_answer

_ROWS = 50
# Accounts of a file whose orders are looked up in one statement.
_AT_ONCE = 500


def _found(request: StaffRequest) -> AgeingFilter:
    owing = CreditAccount.objects.filter(balance__gt=0).order_by("oldest_due", "pk")
    return AgeingFilter(request.GET, queryset=owing)


def _with_names(keys: list[int]) -> QuerySet[CreditAccount]:
    return CreditAccount.objects.filter(pk__in=keys).select_related("customer").order_by("oldest_due", "pk")


@staff_only(Right.VIEW_CREDIT)
@require_GET
def credit_list(request: StaffRequest) -> HttpResponse:
    """Accounts on which something is owed, the oldest debt first, by age."""
    filtered = _found(request)
    page = FirstPages(filtered.qs.values_list("pk", flat=True), _ROWS).get_page(request.GET.get("page"))
    table = AgeingTable(_with_names(list(page)))
    owed, count = services.owed_in_all()
    context = {"filter": filtered, "page": page, "table": table, "owed": owed, "count": count}
    return render(request, "credit/credit_list.html", context)


@staff_only(Right.VIEW_CREDIT)
@require_GET
def credit_csv(request: StaffRequest) -> HttpResponseBase:
    """The same as a file, up to the first ten thousand."""
    keys = list(_found(request).qs.values_list("pk", flat=True)[: FirstPages.MOST])
    record(EXPORT_MADE, actor=request.user, subject="credit", facts={"format": "csv", "rows": len(keys)})
    not_to_ask: dict[int, int] = {}
    for start in range(0, len(keys), _AT_ONCE):
        not_to_ask |= services.not_to_ask_for(keys[start : start + _AT_ONCE])
    fields = file_fields(services.aged(keys), not_to_ask)
    return csv_answer(_with_names(keys), fields, f"credit-{timezone.localdate()}.csv")
