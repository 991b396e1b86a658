"""Approving at the counter: the second person comes, sees what is asked for, and the sale goes on."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from approvals.models import Approval, ApprovalState
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import Right
from counter.services.approving import approve_here
from counter.views.sending import approvers_for, show_approval, show_panel, show_sent
from purchases.models import Order


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_POST
def counter_approve(request: StaffRequest, pk: int) -> HttpResponse:
    """Place what the person has asked for, approved by a colleague who types PIN or password, and a code, here."""
    approval = get_object_or_404(Approval.objects.for_table(), pk=pk, asked_by=request.user)
    approver = approvers_for(request.user).filter(pk=_number(request.POST.get("approver", ""))).first()
    if approver is None or request.POST.get("seal") != approval.seal:
        return show_approval(request, approval, fault=_("Choose who approves it."))
    try:
        approval = approve_here(
            approval,
            approver=approver,
            secret=request.POST.get("secret", "")[:200],
            code=request.POST.get("code", "").replace(" ", "")[:20],
            asker=request.user,
            till_token=getattr(request, "till_token", ""),
        )
    except Refused as refusal:
        return show_approval(request, approval, fault=str(refusal), approver=approver)
    if approval.state == ApprovalState.APPROVED:
        return show_sent(request, Order.objects.get(ref_id=approval.result))
    words = _("Nothing was sent: what was asked for has changed, or its time is over. Sell it again.")
    return show_panel(request, q="", pinned="", faults=[words])


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
