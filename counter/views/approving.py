"""Approving at the counter: the second person comes, sees the request, and the sale goes on."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from approvals.models import Approval, ApprovalState
from approvals.services import approvers_of
from bills.models import BillCheck
from bills.services.acts import BillAct
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import Right
from counter.services.approving import approve_here
from counter.views.sending import elsewhere, open_for_sale, show_approval, show_panel, show_sent
from purchases.models import Order
from purchases.services.acts import PurchaseAct

# Acts that sell or pay at the counter. All other acts are decided on their own pages.
_AT_COUNTER = (PurchaseAct.name, BillAct.name)


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_http_methods(["GET", "POST"])
def counter_approve(request: StaffRequest, pk: int) -> HttpResponse:
    """Place what the person asked for, after a colleague has typed PIN or password, and a code, here."""
    if request.method == "GET":
        asked = get_object_or_404(Approval.objects.for_table(), pk=pk)
        is_here = asked.is_open and asked.asked_by == request.user and asked.act in _AT_COUNTER
        return show_approval(request, asked) if is_here else redirect(asked)
    own = Approval.objects.for_table().filter(asked_by=request.user, act__in=_AT_COUNTER)
    approval = get_object_or_404(own, pk=pk)
    chosen = request.POST.get("approver", "")
    approver = next((person for person in approvers_of(approval) if str(person.pk) == chosen), None)
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
        return show_approval(request, approval, fault=refusal.words_for(request.user), approver=approver)
    return _after(request, approval)


def _after(request: StaffRequest, approval: Approval) -> HttpResponse:
    """Show the sale that goes on, or all bills that were checked with it; or say that nothing was sent."""
    if approval.state != ApprovalState.APPROVED:
        words = _("Nothing was sent: what was asked for has changed, or its time is over. Sell it again.")
        return show_panel(request, q="", pinned="", faults=[words])
    if check := BillCheck.objects.filter(ref_id=approval.subject, batch__isnull=False).first():
        messages.success(request, _("Approved and sent."), extra_tags="approved_here")
        open_for_sale(request, Order.objects.get(ref_id=approval.result))
        return elsewhere(request, redirect("counter_batch", batch=check.batch))
    return show_sent(request, Order.objects.get(ref_id=approval.result))
