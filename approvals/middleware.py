"""Sends a step that takes two people from a view of `staff` to a second person."""

from collections.abc import Callable
from contextlib import suppress

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from approvals.errors import AlreadyAsked
from approvals.models import Approval
from approvals.services import ask, may_open
from staff.models import User
from staff.services.second import Change, NeedsSecond


class SecondPersonMiddleware:
    """Asks for the approval of a change that was refused with `NeedsSecond`, and shows it. Nothing has changed then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Ask for the role that a sign-in could not give at once; the sign-in itself goes on."""
        response = self.get_response(request)
        if hasattr(request, "asks_second"):
            _ask_for(*request.asks_second)
        return response

    def process_exception(self, request: HttpRequest, fault: Exception) -> HttpResponse | None:
        """Show the approval's page instead of the fault; None for any other fault."""
        if not isinstance(fault, NeedsSecond) or not isinstance(request.user, User):
            return None
        try:
            approval = _ask(fault.change, request.user, reason=request.POST.get("reason", ""))
        except AlreadyAsked as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
            return redirect(refusal.approval if may_open(refusal.approval, request.user) else request.path)
        messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
        return redirect(approval)


def _ask(change: Change, person: User, *, reason: str = "") -> Approval:
    return ask(
        change.act, subject=change.subject, content=change.content, about=change.about, actor=person, reason=reason
    )


def _ask_for(person: User, change: Change) -> None:
    """Ask, unless the same waits already; an outdated one becomes void or expires, and the next sign-in asks again."""
    with suppress(AlreadyAsked):
        _ask(change, person)
