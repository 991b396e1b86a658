"""An order above a person's limit: asking a second person instead of placing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from approvals.errors import AlreadyAsked
from core.access import StaffRequest
from purchases.errors import NeedsApproval
from purchases.services import ask_for_approval


def ask_and_show(request: StaffRequest, need: NeedsApproval) -> HttpResponse:
    """Put the order before a second person, with the words of the form, and show what waits."""
    try:
        approval = ask_for_approval(need, actor=request.user, reason=request.POST.get("reason", ""))
    except AlreadyAsked as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return redirect(refusal.approval)
    messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
    return redirect(approval)
