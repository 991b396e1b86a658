"""The shop's tills: the list, a code for a new one, one till, and its receipt printer.

A printer's page is for everybody at the till itself.
"""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Upper
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.acts import act
from branches.seeing import names_branches, narrowed
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.forms import first_fault
from core.paging import FirstPages
from core.rights import Right
from policies.services import policies
from staff.confirming import check_factor
from tills import services
from tills.errors import TillNameTaken
from tills.filters import TillFilter
from tills.forms import PrinterForm, TillForm
from tills.models import Till
from tills.presenting import test_lines
from tills.printing import print_job, printer_here
from tills.services.guessing import seconds_locked
from tills.tables import StayTable, TillTable

ROWS = 50
MAKE_CODE = act("till_code", pgettext_lazy("audit", "Make a code for a till"), Right.ENROL_TILLS)
CHANGE = act("till_change", pgettext_lazy("audit", "Change a till"), Right.ENROL_TILLS)
SWITCH_OFF = act("till_off", pgettext_lazy("audit", "Switch a till off"), Right.ENROL_TILLS)
UNLOCK = act("till_unlock", pgettext_lazy("audit", "Unlock a till"), Right.ENROL_TILLS)


@staff_only(Right.ENROL_TILLS)
@require_GET
def till_list(request: StaffRequest) -> HttpResponse:
    """All tills, those that are on first."""
    tills = narrowed(Till.objects.select_related("held_by__pin")).order_by("-switched_off_at", Upper("name"), "pk")
    filtered = TillFilter(request.GET, queryset=tills)
    page = FirstPages(filtered.qs, ROWS).get_page(request.GET.get("page"))
    context = {"filter": filtered if names_branches() else None, "page": page, "table": TillTable(page)}
    return render(request, "tills/till_list.html", context)


@staff_only(Right.ENROL_TILLS)
@require_http_methods(["GET", "POST"])
def till_add(request: StaffRequest) -> HttpResponse:
    """Make a code for a new till; the answer shows it, this once. It takes a second factor."""
    form = TillForm(request.POST or None, initial={"branch": request.user.branch_id})
    if request.method == "POST" and form.is_valid():
        facts = form.cleaned_data
        try:
            services.refuse_name(facts["name"], actor=request.user)  # a refusal comes before the code
            check_factor(request, act=MAKE_CODE, content=_typed(form))
            code = services.make_code(actor=request.user, **{"branch": request.user.branch_id, **facts})
        except Refused as refusal:
            form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        else:
            shown = {"code": code, "name": facts["name"], "minutes": services.CODE_MINUTES}
            shown["address"] = (settings.SITE_URL or request.build_absolute_uri("/")).rstrip("/") + reverse("till")
            return render(request, "tills/code_shown.html", shown)
    context = {"form": form, "act": MAKE_CODE, "content": {}, "limit": policies().pin_order_limit}
    return render(request, "tills/till_add.html", context)


@staff_only(Right.ENROL_TILLS)
@require_http_methods(["GET", "POST"])
def till_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One till: its name and limit, its present and past people, its lock.

    Another limit or branch takes a second factor.
    """
    till = get_object_or_404(Till.objects.select_related("held_by__pin", "enrolled_by", "printer"), pk=pk)
    form = TillForm(
        request.POST or None, initial={"name": till.name, "pin_limit": till.pin_limit, "branch": till.branch_id}
    )
    if request.method == "POST" and till.is_on and form.is_valid():
        try:
            facts = form.wanted
            if (facts["pin_limit"], facts.get("branch", till.branch_id)) != (till.pin_limit, till.branch_id):
                with transaction.atomic():  # a refusal comes before the code, which would be used up
                    services.lock_change(till, name=facts["name"], branch=facts.get("branch"))
                check_factor(request, act=CHANGE, content={"till": pk, **_typed(form)})
            services.change_till(till, actor=request.user, **facts)
        except Refused as refusal:
            field = "name" if isinstance(refusal, TillNameTaken) else None
            form.add_error(field, ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("Saved."))
            return redirect(till)
    context = {
        "till": till,
        "person_there": services.person_there(till),
        "table": StayTable(services.stays_at(till), prefix="stay"),
        "form": form,
        "printer_form": PrinterForm(printer=getattr(till, "printer", None)),
        "locked": seconds_locked(till),
        "limit": policies().pin_order_limit,
    }
    return render(request, "tills/till_detail.html", context)


@staff_only(Right.ENROL_TILLS)
@require_POST
def till_switch_off(request: StaffRequest, pk: int) -> HttpResponse:
    """End the till; the person there by PIN is signed out at the next request. It takes a second factor."""
    till = get_object_or_404(Till, pk=pk)
    with refusal_shown(request):
        check_factor(request, act=SWITCH_OFF, content={"till": pk})
        services.switch_off(till, actor=request.user)
        messages.success(request, _("The till is switched off."), extra_tags="till_off")
    return redirect(till)


@staff_only(Right.ENROL_TILLS)
@require_POST
def till_unlock(request: StaffRequest, pk: int) -> HttpResponse:
    """Let PINs count again. This takes a second factor, because unlocking gives five more tries."""
    till = get_object_or_404(Till, pk=pk)
    with refusal_shown(request):
        check_factor(request, act=UNLOCK, content={"till": pk})
        services.unlock_pins(till, actor=request.user)
        messages.success(request, _("PINs count again at this till."), extra_tags="till_unlocked")
    return redirect(till)


def _typed(form: TillForm) -> dict[str, str]:
    """The content of the second factor: the typed form."""
    return {name: form.data.get(name, "") for name in form.fields}


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
