"""The rights and limits of each role; owners change them."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import OF_ROLES, Area, Right, Role
from staff import services
from staff.confirming import check_factor
from staff.forms import RoleRightsForm
from staff.models import LIMITS, User
from staff.roles import ROLES, rights_by_role

CHANGE_RIGHTS = act("change_role_rights", pgettext_lazy("audit", "Change the rights of a role"), Right.CHANGE_ROLES)


@staff_only(Right.CHANGE_ROLES)
@require_GET
def role_list(request: StaffRequest) -> HttpResponse:
    """Every role: its people, its rights, and its limits."""
    rights, limits = rights_by_role(), services.limits_of_roles()
    people = User.objects.filter(is_active=True).aggregate(
        **{role.value: Count("pk", filter=_has(role), distinct=True) for role in Role}
    )
    rows = [
        {
            "role": role,
            "people": people[role.value],
            "rights": len(rights[role]) if role in rights else None,
            "is_changed": role in ROLES and rights[role] != set(ROLES[role]),
            "limits": limits[role],
        }
        for role in Role
    ]
    return render(request, "staff/role_list.html", {"rows": rows, "count": len(OF_ROLES)})


@staff_only(Right.CHANGE_ROLES)
@require_http_methods(["GET", "POST"])
def role_detail(request: StaffRequest, name: str) -> HttpResponse:
    """One role: its rights in plain words and its limits, to be changed."""
    if name not in Role.values:
        raise Http404
    role = Role(name)
    held = rights_by_role().get(role, set())
    form = RoleRightsForm(request.POST or None, limits=services.limits_of_roles()[role])
    form.initial["shown"] = " ".join(sorted(held))
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():  # a refusal comes before the code, which would be used up
                services.lock_role_edit(role, *_wanted(form, role), actor=request.user)
            _confirm(request, role)
            with transaction.atomic():
                services.lock_role(role)  # before its rights are read: a colleague's change at the same moment stays
                services.change_role_rights(role, *_wanted(form, role), actor=request.user)
        except Refused as error:
            refusal = error
        else:
            messages.success(request, _("The role was changed. It holds from the next page on."), extra_tags="saved")
            return redirect("role_detail", name=role.value)
    chosen = set(request.POST.getlist("rights")) if request.method == "POST" else held
    context = {"role": role, "form": form, "refusal": refusal, "areas": _areas(chosen), "is_owner": role is Role.OWNER}
    return render(request, "staff/role_detail.html", context)


def _wanted(form: RoleRightsForm, role: Role) -> tuple[set[str], services.Limits]:
    """The rights and limits of the role as they are stored now, with the changes that the reader made on the page."""
    rights = set[str]() if role is Role.OWNER else form.rights_from(rights_by_role()[role])
    return rights, form.limits_from(services.limits_of_roles()[role])


def _confirm(request: StaffRequest, role: Role) -> None:
    """The actor's second factor, for exactly the typed values. Raises `FactorRefused`."""
    typed = {name: " ".join(request.POST.getlist(name)) for name in ("rights", *LIMITS)}
    check_factor(request, act=CHANGE_RIGHTS, content={"role": role.value, **typed})


def _areas(chosen: set[str]) -> list[dict[str, Any]]:
    """The rights by area, each with its choice."""
    return [
        {"area": area, "rights": [(right, right in chosen) for right in OF_ROLES if right.area == area]}
        for area in Area
    ]


def _has(role: Role) -> Q:
    return Q(is_superuser=True) if role is Role.OWNER else Q(is_superuser=False, groups__name=role)
