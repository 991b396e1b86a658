"""What a view of `staff` may not do alone is put before a second person."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from approvals.errors import AlreadyAsked
from approvals.services import ask
from staff.models import User
from staff.services.second import NeedsSecond


class SecondPersonMiddleware:
    """Asks for the approval of a change that was refused with `NeedsSecond`, and shows it. Nothing has changed then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Nothing on the way."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, fault: Exception) -> HttpResponse | None:
        """The approval's page in the place of the fault; None for any other fault."""
        if not isinstance(fault, NeedsSecond) or not isinstance(request.user, User):
            return None
        change, reason = fault.change, request.POST.get("reason", "")
        facts = {"subject": change.subject, "content": change.content, "about": change.about}
        try:
            approval = ask(change.act, actor=request.user, reason=reason, **facts)  # type: ignore[arg-type]
        except AlreadyAsked as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
            return redirect(refusal.approval)
        messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
        return redirect(approval)
