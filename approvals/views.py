"""The pages of approvals: the queue, one approval, and the decisions."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from approvals import services
from approvals.filters import ApprovalFilter
from approvals.models import Approval, ApprovalState
from approvals.presenting import ShownApproval
from approvals.tables import ApprovalTable
from core import clock
from core.access import NotByPin, StaffRequest, staff_only
from core.errors import refusal_shown
from core.live import Live
from core.paging import keyset_page
from staff.confirming import shown_factor

# How many waiting requests are shown; the page says if there are more.
_WAITING_SHOWN = 100


@staff_only()
@require_GET
def approval_list(request: StaffRequest) -> HttpResponse:
    """The waiting requests, the first to expire on top; below, decided ones, newest first. With filters: one list."""
    _refuse_others(request)
    listed = services.listed_for(request.user)
    filtered = ApprovalFilter(request.GET, queryset=listed)
    decided = filtered.qs if filtered.is_filtered else filtered.qs.exclude(state=ApprovalState.ASKED)
    page = keyset_page(decided.for_table(), request.GET, time_field="asked_at")
    context = {
        "filter": filtered,
        "page": page,
        "table": ApprovalTable(page.rows, person=request.user, now=clock.now()),
        **_waiting(request),
    }
    return render(request, "approvals/approval_list.html", context)


@staff_only()
@require_GET
def approval_list_live(request: StaffRequest) -> HttpResponse:
    """The waiting requests, if they differ from the page, and when to ask next."""
    _refuse_others(request)
    return render(request, "approvals/approval_list.html#live", _waiting(request))


def _refuse_others(request: StaffRequest) -> None:
    if not services.sees_queue(request.user):
        raise PermissionDenied


def _waiting(request: StaffRequest) -> dict[str, Any]:
    waiting = list(
        services.listed_for(request.user).open().for_table().order_by("expires_at", "pk")[: _WAITING_SHOWN + 1]
    )
    keys = [approval.pk for approval in waiting]
    live = Live(request, reverse("approval_list_live"), {"waiting": keys}, rest=10)
    first = waiting[:_WAITING_SHOWN]
    changes = services.changes_seen(first) if live.news else {}
    shown = ApprovalTable(first, person=request.user, now=clock.now(), found=changes)
    return {"waiting": shown, "has_more_waiting": len(waiting) > _WAITING_SHOWN, "queue": live}


@staff_only()
@require_GET
def approval_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One approval: exactly what will happen, who asked, and the decision."""
    return render(request, "approvals/approval_detail.html", _detail(request, pk))


@staff_only()
@require_GET
def approval_live(request: StaffRequest, pk: int) -> HttpResponse:
    """The approval, if it differs from the page, and the time of the next poll."""
    return render(request, "approvals/approval_detail.html#live", _detail(request, pk))


def _detail(request: StaffRequest, pk: int) -> dict[str, Any]:
    approval = _seen(request, pk)
    over = () if approval.is_open else {"approval-live"}
    live = Live(request, reverse("approval_live", args=[pk]), {"approval-live": approval.state}, over=over)
    changes = services.changes_seen([approval]) if live.news else {}
    shown = ShownApproval(approval, request.user, changes.get(approval.pk, {}))
    is_for_others = live.news and approval.is_open and not shown.may_refuse
    return {
        "shown": shown,
        "doers": services.names_of_approvers([approval]).get(pk, []) if is_for_others else [],
        "approval": approval,
        "factor_content": services.factor_content(approval),
        "is_over_time": shown.is_over_time,
        "live": live,
    }


def _seen(request: StaffRequest, pk: int) -> Approval:
    """The approval, if this person may see it; by PIN only what this person asked for."""
    approval = get_object_or_404(Approval.objects.for_table(), pk=pk)
    if not services.may_see(approval, request.user):
        raise Http404
    if request.user.by_pin and not approval.is_of(request.user):
        raise NotByPin
    return approval


@staff_only()
@require_POST
def approval_approve(request: StaffRequest, pk: int) -> HttpResponse:
    """Approve what the page showed (`seal`), with the second factor in the same form."""
    approval = _seen(request, pk)
    with refusal_shown(request):
        if request.POST.get("seal") != approval.seal:  # never so on our own page
            raise PermissionDenied
        approval = services.approve(approval, actor=request.user, factor=shown_factor(request))
        match approval.state:
            case ApprovalState.APPROVED:
                messages.success(request, _("Approved, and done."), extra_tags="approved")
            case ApprovalState.VOID:
                messages.error(request, _("Not done: it is void. See below what has changed."), extra_tags="void")
            case ApprovalState.EXPIRED:
                messages.error(request, _("Not done: its time is over."), extra_tags="expired")
    return redirect(approval)


@staff_only()
@require_POST
def approval_refuse(request: StaffRequest, pk: int) -> HttpResponse:
    """Refuse it, with a reason."""
    approval = _seen(request, pk)
    with refusal_shown(request):
        services.refuse(approval, actor=request.user, reason=request.POST.get("reason", ""))
        messages.success(request, _("Refused. Nothing was done."), extra_tags="refused")
    return redirect(approval)


@staff_only()
@require_POST
def approval_withdraw(request: StaffRequest, pk: int) -> HttpResponse:
    """Withdraw the person's own request."""
    approval = _seen(request, pk)
    with refusal_shown(request):
        services.withdraw(approval, actor=request.user)
        messages.success(request, _("Withdrawn. Nothing was done."), extra_tags="withdrawn")
    return redirect(approval)
