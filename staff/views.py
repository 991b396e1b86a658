"""What a person sets for their own account."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.access import StaffRequest, staff_only
from staff.forms import PreferencesForm


@staff_only()
@require_http_methods(["GET", "POST"])
def preferences(request: StaffRequest) -> HttpResponse:
    """Choose language and look; they hold wherever this person signs in."""
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        # Say it in the language that was just chosen.
        with translation.override(user.language or translation.get_language_from_request(request)):
            messages.success(request, _("Saved."))
        return redirect("preferences")
    return render(request, "staff/preferences.html", {"form": form})
