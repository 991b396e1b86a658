"""A person's own PIN."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import Right
from staff.confirming import confirm_own
from tills import services
from tills.forms import OwnPinForm

SET_PIN = act("own_pin", pgettext_lazy("audit", "Set the own PIN"))


@sensitive_post_parameters()
@staff_only(Right.BUY)
@require_http_methods(["GET", "POST"])
def own_pin(request: StaffRequest) -> HttpResponse:
    """Set or remove the own PIN; both take the person's second factor, or without one the password."""
    is_removal = "remove" in request.POST
    form = OwnPinForm(request.POST if request.method == "POST" and not is_removal else None)
    if request.method == "POST" and (is_removal or form.is_valid()):
        try:
            confirm_own(request, act=SET_PIN, content={})
        except Refused as refusal:
            return _page(request, form, refusal)
        if is_removal:
            services.remove_pin(request.user)
            messages.success(request, _("Your PIN is removed."), extra_tags="pin_removed")
        else:
            services.set_pin(request.user, form.cleaned_data["pin1"])
            messages.success(request, _("Your PIN is saved. It counts at the shop's tills."), extra_tags="pin_set")
        return redirect("own_pin")
    return _page(request, form, None)


def _page(request: StaffRequest, form: OwnPinForm, refusal: Refused | None) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "refusal": refusal,
        "has_pin": services.has_pin(request.user),
        "act": SET_PIN,
        "content": {},
    }
    return render(request, "tills/own_pin.html", context)
