"""The people of the shop: the list, an invitation, and one person's account."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.acts import act
from branches.errors import BranchRefused
from branches.forms import WithBranch
from branches.seeing import names_branches, narrowed
from branches.services import branch_name
from core import clock
from core.access import StaffRequest, staff_only
from core.addresses import is_of_this_machine, site_of
from core.customer_texts import whatsapp_link
from core.errors import Refused, refusal_shown
from core.paging import FirstPages
from core.periods import Period
from core.rights import Right
from staff import services
from staff.confirming import check_factor
from staff.errors import FactorRefused, NameTaken
from staff.filters import StaffFilter
from staff.forms import InviteForm, LimitsForm, RoleForm
from staff.joining import Joining, joining_forms
from staff.models import LIMITS, User
from staff.presenting import ListOfDays, factor_words, lists_of, qr_code, standing_of, waiting_role_of
from staff.roles import rights_by_role, role_of
from staff.services.own_factors import lock_factor_reset, reset_factors
from staff.tables import SessionTable, StaffTable

ROWS = 50
_NAMES = ("full_name", "username")
_MOST_PROPOSALS = 5  # of a user name, while other people take it
_MOST_NAMESAKES = 3
INVITE = act("invite", pgettext_lazy("audit", "Add a person"), Right.MANAGE_STAFF)
CHANGE_ROLE = act("change_role", pgettext_lazy("audit", "Change a role"), Right.MANAGE_STAFF)
CHANGE_LIMITS = act("change_limits", pgettext_lazy("audit", "Change limits"), Right.CHANGE_LIMITS)
DEACTIVATE = act("deactivate", pgettext_lazy("audit", "Switch an account off"), Right.MANAGE_STAFF)
MOVE = act("move_person", pgettext_lazy("audit", "Move a person to another branch"), Right.MANAGE_STAFF)
BIND = act("bind_person", pgettext_lazy("audit", "Let a person see one branch, or all"), Right.CHANGE_ROLES)
REACTIVATE = act("reactivate", pgettext_lazy("audit", "Switch an account on"), Right.MANAGE_STAFF)
ACCESS_LINK = act("access_link", pgettext_lazy("audit", "Make an access link"), Right.MANAGE_STAFF)
RESET_FACTORS = act("reset_factors", pgettext_lazy("audit", "Remove a person's second factors"), Right.MANAGE_STAFF)


@staff_only(Right.MANAGE_STAFF)
@require_GET
def staff_list(request: StaffRequest) -> HttpResponse:
    """Everybody who works, or has worked, here, by name."""
    in_order = narrowed(User.objects.all()).order_by("-is_active", "first_name", "username", "pk")
    filtered = StaffFilter(request.GET, queryset=in_order)
    now = clock.now()
    page = FirstPages(filtered.qs.for_table(now), ROWS).get_page(request.GET.get("page"))
    context = {"filter": filtered, "page": page, "table": StaffTable(page, now=now), "as_you_type": True}
    return render(request, "staff/staff_list.html", context)


@staff_only(Right.MANAGE_STAFF)
@require_http_methods(["GET", "POST"])
def staff_invite(request: StaffRequest) -> HttpResponse:
    """Invite somebody; the answer shows the link, this once. htmx gets the user name for the typed name."""
    if request.method == "GET" and "HX-Request" in request.headers:
        named = InviteForm(initial={"full_name": request.GET.get("full_name", "")}, actor=request.user)
        return render(request, "staff/staff_invite.html#user_name", {"form": named})
    form, limits_form = InviteForm(request.POST or None, actor=request.user), None
    joining: list[Joining] = []
    if request.user.has_perm(Right.CHANGE_LIMITS):
        limits_form = LimitsForm(request.POST or None, limits=services.Limits(), empty=_("as the role"))
        joining = joining_forms(request.POST or None)
    confirmed = [*_NAMES, "role", "branch", *LIMITS, *(name for part in joining for name in part.fields)]
    forms = [part for part in (form, limits_form, *joining) if part is not None]
    is_valid = request.method == "POST" and all(part.is_valid() for part in forms)
    names = _namesakes(request, form)
    if is_valid and (not names or names["is_confirmed"]):
        limits = limits_form.limits_from(services.Limits()) if limits_form else None
        limits = None if limits == services.Limits() else limits  # a limit of 0 is one
        typed = [part for part in joining if part.has_changed()]
        keep = partial(_keep, typed, request.user) if typed else None
        try:
            _refuse_invitation(form, actor=request.user, limits=limits, has_more=bool(limits or keep))  # as for a role
            _confirm(request, INVITE, **{name: request.POST.get(name, "") for name in confirmed})
            person, token = _invited(form, actor=request.user, limits=limits, keep=keep)
        except NameTaken as refusal:
            form.add_error("username", ValidationError(str(refusal), code=refusal.code))
        except FactorRefused as refusal:
            form.add_error(None, ValidationError(str(refusal), code=refusal.code))
        except Refused as refusal:
            if not any(part.errors for part in joining):  # it stands beside its own field
                form.add_error("role", ValidationError(str(refusal), code=refusal.code))
        else:
            return _link_shown(request, person, token)
    context: dict[str, Any] = {
        "form": form,
        "limits_form": limits_form,
        "confirmed": " ".join(confirmed),
        "joining": joining,
        "namesakes": names,
    }
    if limits_form:
        offered = dict(form.fields["role"].choices)  # type: ignore[attr-defined] # it is a choice
        given = [row for row in services.limits_of_roles().items() if row[0].value in offered]
        context["limits_of_roles"] = [(role, limited) for role, limited in given if limited != services.Limits()]
    return render(request, "staff/staff_invite.html", context)


def _namesakes(request: StaffRequest, form: InviteForm) -> dict[str, Any]:
    """The people who have the typed name already, and whether the inviter has confirmed another one; empty for none."""
    if not form.is_bound or not (full_name := form.cleaned_data.get("full_name")):
        return {}
    people = services.namesakes_of(full_name, but=form.cleaned_data.get("username") or "")[:_MOST_NAMESAKES]
    if not people:
        return {}
    value = " ".join(full_name.casefold().split())
    return {
        "name": people[0].shown_name,
        "usernames": ", ".join(person.username for person in people),
        "value": value,
        "is_confirmed": request.POST.get("another") == value,
    }


def _refuse_invitation(form: InviteForm, **more: Any) -> None:
    typed = form.cleaned_data
    try:
        services.refuse_invitation(typed["username"], typed["role"], branch=typed.get("branch"), **more)
    except NameTaken:
        if not form.is_name_proposed:  # else it is proposed again
            raise


def _invited(form: InviteForm, **more: Any) -> tuple[User, str]:
    """The person and the token of `services.invite`; a proposed user name that is taken meanwhile is proposed again."""
    for _proposal in range(_MOST_PROPOSALS - 1):
        try:
            return services.invite(**more, **form.cleaned_data)
        except NameTaken:
            if not form.is_name_proposed:
                raise
            form.propose_name_again()
    return services.invite(**more, **form.cleaned_data)


def _keep(typed: list[Joining], actor: User, person: User) -> None:
    for part in typed:
        part.keep(person, actor=actor)


@staff_only(Right.MANAGE_STAFF)
@require_GET
def staff_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One person: role, limits, link, sessions, and the possible steps with the account."""
    return _person_shown(request, pk)


def _person_shown(request: StaffRequest, pk: int, *, limits_form: LimitsForm | None = None) -> HttpResponse:
    now = clock.now()
    person = get_object_or_404(User.objects.for_table(now), pk=pk)
    role, rights, own = role_of(person), rights_by_role(), services.own_limits_of(person)
    of_role = services.limits_of_roles()[role] if role else services.Limits()
    may_manage, factors = services.may_manage(request.user, person, rights), factor_words(person)
    may_move = may_manage and names_branches() and (not person.bound_since or request.user.is_superuser)
    shift = person.shifts.filter(closed_at=None).select_related("drawer").first() if may_move else None
    # While it is open, the person belongs to its branch or is moved to it, and is bound to no other one.
    sells_in = shift.drawer.branch_id if shift else None
    context = {
        "person": person,
        "done": _done_by(person, request.user) if person.has_joined else [],
        "days": request.GET.get("days", ""),
        "role": role,
        "rights_of_role": rights.get(role, set()) if role else set(),
        "waiting_role": waiting_role_of(person),
        "limits": services.limits_of(person, role=of_role),
        "limits_form": limits_form or LimitsForm(limits=own, role=of_role),
        "may_change_limits": may_manage and request.user.has_perm(Right.CHANGE_LIMITS),
        "standing": standing_of(person, link_until=person.link_until, now=now),
        "link_is_open": bool(person.link_until and person.link_until > now),
        "factors": factors,
        "owners": services.names_of_owners() if factors and may_manage and not request.user.is_superuser else [],
        "is_own": person == request.user,
        "may_have_link": not (person.is_outside or services.sees_more(person, request.user))
        and (person.is_active or not person.has_joined),
        "may_manage": may_manage,
        "branch": branch_name(person.branch_id),
        "open_shift": shift,
        "branch_of_shift": branch_name(sells_in) if sells_in else "",
        "may_move": may_move and sells_in != person.branch_id,
        "may_bind": may_move
        and request.user.is_superuser
        and not person.is_superuser
        and sells_in in {None, person.branch_id},
        "branch_form": WithBranch(initial={"branch": sells_in or person.branch_id}),
        "role_form": RoleForm(actor=request.user, rights=rights, initial={"role": role}),
        "table": SessionTable(services.open_sessions(person), current=request.session.session_key),
    }
    return render(request, "staff/staff_detail.html", context)


def _done_by(person: User, reader: User) -> list[tuple[str, list[ListOfDays]]]:
    """For today and yesterday: the lists of this person's acts on that day that the reader may open."""
    days = [(str(period.label), lists_of(person, period, reader)) for period in (Period.TODAY, Period.YESTERDAY)]
    return [(words, lists) for words, lists in days if lists]


Step = Callable[[StaffRequest, User], HttpResponse | None]


def _step(*rights: Right) -> Callable[[Step], Callable[..., HttpResponseBase]]:
    """A posted step with a person's account: its own answer, or the person's page, which also shows a refusal."""

    def decorate(step: Step) -> Callable[..., HttpResponseBase]:
        @staff_only(Right.MANAGE_STAFF, *rights)
        @require_POST
        @wraps(step)
        def view(request: StaffRequest, pk: int) -> HttpResponse:
            person = get_object_or_404(User, pk=pk)
            with refusal_shown(request):
                if (answer := step(request, person)) is not None:
                    return answer
            return redirect(person)

        return view

    return decorate


@_step()
def staff_role(request: StaffRequest, person: User) -> None:
    """Give the person another role."""
    form = RoleForm(request.POST, actor=request.user)
    if form.is_valid():
        role = form.cleaned_data["role"]
        with transaction.atomic():  # a refusal comes before the code, which would be used up
            services.lock_role_change(person, role, actor=request.user)
        _confirm(request, CHANGE_ROLE, person=person.pk, role=role.value)
        is_changed = services.change_role(person, role, actor=request.user)
        words = _("The role was changed. It holds from the next page on.") if is_changed else _("Nothing was changed.")
        messages.success(request, words, extra_tags="role_changed" if is_changed else "role_unchanged")
    else:
        messages.error(request, _("Choose one of the roles."))


@_step(Right.CHANGE_LIMITS)
def staff_limits(request: StaffRequest, person: User) -> HttpResponse | None:
    """Give the person own limits; for an empty one the role's counts."""
    form = LimitsForm(request.POST, limits=services.own_limits_of(person))
    if not form.is_valid():
        return _person_shown(request, person.pk, limits_form=form)
    with transaction.atomic():  # as for a role
        services.lock_limit_change(person, form.limits_from(services.own_limits_of(person)), actor=request.user)
    _confirm(request, CHANGE_LIMITS, person=person.pk, **{name: request.POST.get(name, "") for name in LIMITS})
    with transaction.atomic():
        held = services.own_limits_of(services.lock_for_change(person, actor=request.user))
        services.change_limits(person, form.limits_from(held), actor=request.user)
    messages.success(request, _("The limits were changed. They hold from the next page on."))
    return None


@_step()
def staff_move(request: StaffRequest, person: User) -> None:
    """Move the person to another branch."""
    form = WithBranch(request.POST)
    if not form.is_valid():  # the page was opened before the branch was closed
        raise BranchRefused("closed")
    branch: int = form.cleaned_data["branch"] if "branch" in form.fields else person.branch_id
    with transaction.atomic():  # as for a role
        services.lock_move(person, branch=branch, actor=request.user)
    _confirm(request, MOVE, person=person.pk, branch=branch)
    services.move(person, branch=branch, actor=request.user)
    messages.success(request, _("Saved."), extra_tags="person_moved")


@_step(Right.CHANGE_ROLES)
def staff_bind(request: StaffRequest, person: User) -> None:
    """Limit the person to the own branch (`bound=1`), or show all branches again."""
    bound = request.POST.get("bound", "")
    with transaction.atomic():  # as for a role
        services.lock_binding(person, is_bound=bound == "1", actor=request.user)
    _confirm(request, BIND, person=person.pk, bound=bound)
    services.bind(person, is_bound=bound == "1", actor=request.user)
    messages.success(request, _("Saved. It holds from the next page on."), extra_tags="person_bound")


@_step()
def staff_deactivate(request: StaffRequest, person: User) -> None:
    """Switch the account off."""
    with transaction.atomic():  # as for a role
        services.lock_switching_off(person, actor=request.user)
    _confirm(request, DEACTIVATE, person=person.pk)
    services.deactivate(person, actor=request.user)
    messages.success(request, _("The account is switched off, and signed out everywhere."))


@_step()
def staff_reactivate(request: StaffRequest, person: User) -> None:
    """Switch the account on again."""
    with transaction.atomic():  # as for a role
        services.lock_reactivation(person, actor=request.user)
    _confirm(request, REACTIVATE, person=person.pk)
    services.reactivate(person, actor=request.user)
    messages.success(request, _("The account is switched on."))


@_step()
def staff_link(request: StaffRequest, person: User) -> HttpResponse:
    """Make a new link: an invitation again, or a new password. The answer shows it, this once."""
    with transaction.atomic():  # as for a role
        services.lock_for_link(person, actor=request.user)
    _confirm(request, ACCESS_LINK, person=person.pk)
    return _link_shown(request, person, services.make_link(person, actor=request.user))


@_step()
def staff_withdraw(request: StaffRequest, person: User) -> None:
    """End the person's open link."""
    services.withdraw_link(person, actor=request.user)
    words = _("The link was withdrawn.")
    if not person.has_joined:
        words = _("The invitation was withdrawn, and the account is switched off.")
    messages.success(request, words)


@_step()
def staff_sign_out(request: StaffRequest, person: User) -> None:
    """End all sessions of the person."""
    services.end_sessions(person, actor=request.user)
    messages.success(request, _("Signed out everywhere."))


@_step()
def staff_reset_factors(request: StaffRequest, person: User) -> None:
    """Remove the second factors of a person who has lost them."""
    with transaction.atomic():  # as for a role
        lock_factor_reset(person, actor=request.user)
    _confirm(request, RESET_FACTORS, person=person.pk)
    reset_factors(person, actor=request.user)
    messages.success(request, _("The second factors are removed, and the person is signed out everywhere."))


def _confirm(request: StaffRequest, act: str, **content: object) -> None:
    """The actor's second factor, for exactly this content. Raises `FactorRefused`."""
    check_factor(request, act=act, content=content)


def _link_shown(request: StaffRequest, person: User, token: str) -> HttpResponse:
    link = site_of(request) + services.link_path(token)
    message = _(
        "Hello %(name)s, this link opens your account: %(link)s It works once. Your user name: %(username)s"
    ) % {
        "name": person.shown_name,
        "link": link,
        "username": person.username,
    }
    role = role_of(person)
    of_role = services.limits_of_roles()[role] if role else services.Limits()
    context = {
        "person": person,
        "role": role,
        "limits": services.limits_of(person, role=of_role),
        "link": link,
        "is_of_this_machine": is_of_this_machine(link),
        "hours": services.VALID_HOURS,
        "whatsapp": whatsapp_link(message),
        "qr_code": qr_code(link),
    }
    return render(request, "staff/link_shown.html", context)
