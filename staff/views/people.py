"""The people of the shop: the list, an invitation, and one person's account."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core import clock
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.paging import FirstPages
from staff import services
from staff.errors import NameTaken
from staff.filters import StaffFilter
from staff.forms import InviteForm, RoleForm
from staff.models import User
from staff.presenting import standing_of
from staff.roles import role_of
from staff.tables import SessionTable, StaffTable

ROWS = 50


@staff_only("staff.manage_staff")
@require_GET
def staff_list(request: StaffRequest) -> HttpResponse:
    """Everybody who works here or did, by name."""
    in_order = User.objects.order_by("-is_active", "first_name", "username", "pk")
    found = StaffFilter(request.GET, queryset=in_order)
    now = clock.now()
    page = FirstPages(found.qs.for_table(now), ROWS).get_page(request.GET.get("page"))
    context = {"filter": found, "page": page, "table": StaffTable(page, now=now), "as_you_type": True}
    return render(request, "staff/staff_list.html", context)


@staff_only("staff.manage_staff")
@require_http_methods(["GET", "POST"])
def staff_invite(request: StaffRequest) -> HttpResponse:
    """Invite somebody; the answer shows the link, this once."""
    form = InviteForm(request.POST or None, actor=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            person, token = services.invite(actor=request.user, **form.cleaned_data)
        except NameTaken as refusal:
            form.add_error("username", ValidationError(str(refusal), code=refusal.code))
        except Refused as refusal:
            form.add_error("role", ValidationError(str(refusal), code=refusal.code))
        else:
            return _link_shown(request, person, token)
    return render(request, "staff/staff_invite.html", {"form": form})


@staff_only("staff.manage_staff")
@require_GET
def staff_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One person: role, link, sessions, and what may be done with the account."""
    now = clock.now()
    person = get_object_or_404(User.objects.for_table(now), pk=pk)
    context = {
        "person": person,
        "role": role_of(person),
        "standing": standing_of(person, link_until=person.link_until, now=now),
        "link_is_open": bool(person.link_until and person.link_until > now),
        "is_own": person == request.user,
        "may_manage": services.may_manage(request.user, person),
        "role_form": RoleForm(actor=request.user, initial={"role": role_of(person)}),
        "table": SessionTable(services.open_sessions(person), current=request.session.session_key),
    }
    return render(request, "staff/staff_detail.html", context)


@staff_only("staff.manage_staff")
@require_POST
def staff_role(request: StaffRequest, pk: int) -> HttpResponse:
    """Give the person another role."""
    person = get_object_or_404(User, pk=pk)
    form = RoleForm(request.POST, actor=request.user)
    with refusal_shown(request):
        if form.is_valid():
            services.change_role(person, form.cleaned_data["role"], actor=request.user)
            messages.success(request, _("The role was changed. It holds from the next page on."))
        else:
            messages.error(request, _("Choose one of the roles."))
    return redirect(person)


@staff_only("staff.manage_staff")
@require_POST
def staff_deactivate(request: StaffRequest, pk: int) -> HttpResponse:
    """Switch the account off."""
    person = get_object_or_404(User, pk=pk)
    with refusal_shown(request):
        services.deactivate(person, actor=request.user)
        messages.success(request, _("The account is switched off, and signed out everywhere."))
    return redirect(person)


@staff_only("staff.manage_staff")
@require_POST
def staff_reactivate(request: StaffRequest, pk: int) -> HttpResponse:
    """Switch the account on again."""
    person = get_object_or_404(User, pk=pk)
    with refusal_shown(request):
        services.reactivate(person, actor=request.user)
        messages.success(request, _("The account is switched on."))
    return redirect(person)


@staff_only("staff.manage_staff")
@require_POST
def staff_link(request: StaffRequest, pk: int) -> HttpResponse:
    """Make a new link: an invitation again, or a new password. The answer shows it, this once."""
    person = get_object_or_404(User, pk=pk)
    with refusal_shown(request):
        return _link_shown(request, person, services.make_link(person, actor=request.user))
    return redirect(person)


@staff_only("staff.manage_staff")
@require_POST
def staff_withdraw(request: StaffRequest, pk: int) -> HttpResponse:
    """End the person's open link."""
    person = get_object_or_404(User, pk=pk)
    with refusal_shown(request):
        services.withdraw_link(person, actor=request.user)
        messages.success(request, _("The link was withdrawn."))
    return redirect(person)


@staff_only("staff.manage_staff")
@require_POST
def staff_sign_out(request: StaffRequest, pk: int) -> HttpResponse:
    """End all sessions of the person."""
    person = get_object_or_404(User, pk=pk)
    with refusal_shown(request):
        services.end_sessions(person, actor=request.user)
        messages.success(request, _("Signed out everywhere."))
    return redirect(person)


def _link_shown(request: StaffRequest, person: User, token: str) -> HttpResponse:
    base = settings.SITE_URL.rstrip("/") or request.build_absolute_uri("/").rstrip("/")
    context = {"person": person, "link": base + services.link_path(token), "hours": services.VALID_HOURS}
    return render(request, "staff/link_shown.html", context)
