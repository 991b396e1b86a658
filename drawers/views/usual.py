"""The drawer that a person usually opens."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_POST

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.forms import first_fault
from core.rights import Right
from drawers import services
from drawers.forms import UsualDrawerForm
from staff.confirming import check_factor
from staff.models import User

USUAL_DRAWER = act("usual_drawer", pgettext_lazy("audit", "Set a person's usual drawer"), Right.CHANGE_LIMITS)


@staff_only(Right.MANAGE_STAFF, Right.CHANGE_LIMITS)
@require_POST
def staff_drawer(request: StaffRequest, pk: int) -> HttpResponse:
    """Have the person be offered this drawer first, or none."""
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
