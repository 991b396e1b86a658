"""The page of the policies: how the shop wants to be run."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_http_methods

from approvals.errors import AlreadyAsked
from approvals.services import open_approval
from audit.acts import act
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import Right
from policies.errors import LooserNeedsTwo, NoReason
from policies.forms import PoliciesForm
from policies.services import change_policies, policies
from policies.words import WORDS
from shop.services.acts import PoliciesAct, ask_for_policies
from staff.confirming import check_factor
from staff.errors import FactorRefused

CHANGE = act("change_policies", pgettext_lazy("audit", "Change the policies"), Right.CHANGE_POLICIES)
# The content of the second factor: the typed form.
_BOUND = (*WORDS, "reason")


@staff_only(Right.CHANGE_POLICIES)
@require_http_methods(["GET", "POST"])
def policies_page(request: StaffRequest) -> HttpResponse:
    """Show what holds; save it (POST), which takes a second factor; a looser check takes a second person, too."""
    form = PoliciesForm(request.POST if request.method == "POST" else None, held=policies())
    refusal: Refused | None = None
    if form.is_valid():
        try:
            check_factor(request, act=CHANGE, content={name: request.POST.get(name, "") for name in _BOUND})
            is_changed = change_policies(form.wanted, actor=request.user)
        except FactorRefused as refused:
            refusal = refused
        except LooserNeedsTwo as need:
            try:
                approval = ask_for_policies(need, actor=request.user, reason=form.cleaned_data["reason"])
            except NoReason as refused:
                refusal = refused
            except AlreadyAsked as refused:
                messages.error(request, str(refused), extra_tags=refused.code)
                return redirect(refused.approval)
            else:
                messages.success(
                    request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval"
                )
                return redirect(approval)
        else:
            words = _("Saved. It holds from now on.") if is_changed else _("Nothing was changed.")
            messages.success(request, words, extra_tags="policies_saved" if is_changed else "policies_unchanged")
            return redirect("policies")
    context = {
        "form": form,
        "refusal": refusal,
        "asks_reason": isinstance(refusal, NoReason) or form["reason"].value(),
        "waiting": open_approval(PoliciesAct.name, "policies"),
        "factor_act": CHANGE,
        "factor_fields": " ".join(_BOUND),
    }
    return render(request, "shop/policies.html", context)
