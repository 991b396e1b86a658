"""Customers from a file: show what would be saved, then save it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from core.access import StaffRequest, staff_only
from core.rights import Right
from core.sheets import SheetRefused
from customers.forms import ImportForm
from customers.services import MOST_KILOBYTES, MOST_ROWS, Outcome, import_customers, plan_import
from customers.tables import ImportTable

# So many rows stand on the page, those that need a look first.
_SHOWN = 200


@staff_only(Right.VIEW_CUSTOMERS, Right.IMPORT_CUSTOMERS, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def customer_import(request: StaffRequest) -> HttpResponse:
    """Read a table and show what each row would do; with `save` do it."""
    form = ImportForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    context = {"form": form, "most": MOST_ROWS, "kilobytes": MOST_KILOBYTES}
    if request.method != "POST" or not form.is_valid():
        return render(request, "customers/import.html", context, status=422 if form.errors else 200)
    text = form.cleaned_data["text"]
    try:
        plan = import_customers(text, actor=request.user) if "save" in request.POST else plan_import(text)
    except SheetRefused as refusal:
        form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        return render(request, "customers/import.html", context, status=422)
    if "save" in request.POST:
        saved = len(plan.saved)
        words = ngettext("%(n)s row was saved.", "%(n)s rows were saved.", saved) % {"n": saved}
        messages.success(request, words, extra_tags="customers_imported")
        return redirect("customer_list")
    order = list(Outcome)
    rows = sorted(plan.rows, key=lambda row: (order.index(row.outcome), row.line))
    context |= {
        "counts": [(outcome, plan.counts[outcome]) for outcome in order if plan.counts[outcome]],
        "table": ImportTable(rows[:_SHOWN]),
        "all": len(rows),
        "saved": len(plan.saved),
        "unread": plan.unread,
        "text": text,
    }
    return render(request, "customers/import.html", context)
