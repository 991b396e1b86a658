"""The shop's drawers, and the drawer that a person usually opens."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from audit.acts import act
from branches.choosing import branch_links, chosen_branch
from branches.seeing import names_branches, narrowed
from branches.services import open_names
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.forms import first_fault
from core.rights import Right
from drawers import services
from drawers.forms import DrawerForm, UsualDrawerForm
from drawers.models import Drawer, Shift
from staff.confirming import check_factor
from staff.models import User

USUAL_DRAWER = act("usual_drawer", pgettext_lazy("audit", "Set a person's usual drawer"), Right.CHANGE_LIMITS)


@staff_only(Right.MANAGE_DRAWERS)
@require_http_methods(["GET", "POST"])
def drawer_list(request: StaffRequest) -> HttpResponse:
    """All drawers, each with the person who has it open; add one (POST)."""
    form = DrawerForm(request.POST or None, initial={"branch": chosen_branch(request.GET) or request.user.branch_id})
    if request.method == "POST" and form.is_valid():
        try:
            facts = form.cleaned_data
            services.add_drawer(facts["name"], actor=request.user, branch=facts.get("branch", request.user.branch_id))
        except Refused as refusal:
            form.add_error("name", ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("The drawer is added."), extra_tags="drawer_added")
            return redirect("drawer_list")
    return _shown(request, form)


@staff_only(Right.MANAGE_DRAWERS)
@require_POST
def drawer_change(request: StaffRequest, pk: int) -> HttpResponse:
    """Rename a drawer, or put it out of use or into use again."""
    drawer = get_object_or_404(Drawer, pk=pk)
    form = DrawerForm(request.POST)
    if form.is_valid():
        try:
            services.change_drawer(drawer, actor=request.user, **form.cleaned_data)
        except Refused as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
        else:
            messages.success(request, _("Saved."), extra_tags="drawer_saved")
    else:
        messages.error(request, first_fault(form), extra_tags="drawer_not_saved")
    return redirect("drawer_list")


def _shown(request: StaffRequest, form: DrawerForm) -> HttpResponse:
    open_shifts = {shift.drawer_id: shift for shift in Shift.objects.filter(closed_at=None).select_related("cashier")}
    seen, branch = narrowed(Drawer.objects.all()).order_by("-is_active", "name"), chosen_branch(request.GET)
    drawers = seen.filter(branch=branch) if branch else seen
    context = {
        "form": form,
        "drawers": [(drawer, open_shifts.get(drawer.pk)) for drawer in drawers[:200]],
        "branches": open_names() if names_branches() else [],
        "branch_links": branch_links(request),
    }
    return render(request, "drawers/drawer_list.html", context)


@staff_only(Right.MANAGE_STAFF, Right.CHANGE_LIMITS)
@require_POST
def staff_drawer(request: StaffRequest, pk: int) -> HttpResponse:
    """Set the drawer that the person is offered first, or none."""
    person = get_object_or_404(User, pk=pk)
    form = UsualDrawerForm(request.POST, person=person)
    with refusal_shown(request):
        if form.is_valid():
            check_factor(request, act=USUAL_DRAWER, content={"person": pk, "drawer": request.POST.get("drawer", "")})
            services.set_usual_drawer(person, form.cleaned_data["drawer"], actor=request.user)
            messages.success(request, _("Saved."), extra_tags="usual_drawer_saved")
        else:
            messages.error(request, first_fault(form), extra_tags="no_usual_drawer")
    return redirect(person)
