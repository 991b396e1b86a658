"""The settings of one's own account, and its sessions."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.access import StaffRequest, staff_only
from staff.forms import PreferencesForm
from staff.services import end_sessions, open_sessions
from staff.tables import SessionTable


@staff_only()
@require_http_methods(["GET", "POST"])
def preferences(request: StaffRequest) -> HttpResponse:
    """Choose language and look; they hold in every browser of this person. Below: where that is now."""
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        # Say it in the language that was just chosen.
        with translation.override(user.language or translation.get_language_from_request(request)):
            messages.success(request, _("Saved."))
        return redirect("preferences")
    table = SessionTable(open_sessions(request.user), current=request.session.session_key)
    return render(request, "staff/preferences.html", {"form": form, "table": table})


@staff_only()
@require_POST
def sign_out_elsewhere(request: StaffRequest) -> HttpResponse:
    """End all sessions of this person but this one."""
    end_sessions(request.user, actor=request.user, but=request.session.session_key)
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("preferences")
