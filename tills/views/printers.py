"""The receipt printer of a till: how its pages reach it, and at the till itself which one it is."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from core.access import StaffRequest, staff_only
from core.forms import first_fault
from core.rights import Right
from tills import services
from tills.forms import PrinterForm
from tills.models import Till
from tills.presenting import test_lines
from tills.printing import print_job, printer_here


@staff_only(Right.ENROL_TILLS)
@require_POST
def printer_set(request: StaffRequest, pk: int) -> HttpResponse:
    """Have the till print directly, or with the browser's window."""
    till = get_object_or_404(Till, pk=pk, switched_off_at=None)
    form = PrinterForm(request.POST)
    if form.is_valid():
        services.set_printer(till, form.facts, actor=request.user)
        messages.success(request, _("Saved."), extra_tags="printer_saved")
    else:
        messages.error(request, first_fault(form), extra_tags="no_printer")
    return redirect(till)


@staff_only()
@require_GET
def printer(request: StaffRequest) -> HttpResponse:
    """At a till: choose its printer in the browser's list, and print a test page. It is for everybody there."""
    here = printer_here(request)
    job = print_job(request, here, test_lines(here)) if here else None
    may_change = request.user.has_perm(Right.ENROL_TILLS)
    return render(request, "tills/printer.html", {"printer": here, "job": job, "may_change": may_change})
