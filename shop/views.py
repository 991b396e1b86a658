"""The page of the policies, and the pages of branches with the texts of their receipts."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from approvals.errors import AlreadyAsked
from approvals.services import open_approval
from audit.acts import act
from branches import services
from branches.models import Branch
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.rights import Right
from policies.errors import LooserNeedsTwo, NoReason
from policies.forms import PoliciesForm
from policies.services import change_policies, policies
from policies.words import WORDS
from shop.forms import HeadForm
from shop.services.acts import PoliciesAct, ask_for_policies, refuse_without_reason
from staff.confirming import check_factor
from staff.errors import FactorRefused

CHANGE = act("change_policies", pgettext_lazy("audit", "Change the policies"), Right.CHANGE_POLICIES)
# The content of the second factor: the typed form.
_BOUND = (*WORDS, "reason")


@staff_only(Right.CHANGE_POLICIES)
@require_http_methods(["GET", "POST"])
def policies_page(request: StaffRequest) -> HttpResponse:
    """Show the policies; save them (POST) with a second factor; a looser check also takes a second person."""
    form = PoliciesForm(request.POST if request.method == "POST" else None, held=policies())
    refusal: Refused | None = None
    if form.is_valid():
        try:
            refuse_without_reason(form.wanted, reason=form.cleaned_data["reason"])  # a code would be used up
            check_factor(request, act=CHANGE, content={name: request.POST.get(name, "") for name in _BOUND})
            is_changed = change_policies(form.wanted, actor=request.user)
        except (FactorRefused, NoReason) as refused:
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


@staff_only(Right.CHANGE_SHOP)
@require_http_methods(["GET", "POST"])
def branch_list(request: StaffRequest) -> HttpResponse:
    """All branches, open ones first; add one (POST)."""
    form = HeadForm(request.POST if request.method == "POST" else None, head=Branch())
    if request.method == "POST" and form.is_valid():
        try:
            services.add_branch(form.cleaned_data, actor=request.user)
        except Refused as refusal:
            form.add_error("name", ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("The branch is added."), extra_tags="branch_added")
            return redirect("shop_branches")
    context = {"form": form, "branches": services.all_branches().values()}
    return render(request, "shop/branch_list.html", context)


@staff_only(Right.CHANGE_SHOP)
@require_http_methods(["GET", "POST"])
def branch_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One branch: its name, and the texts of its receipts."""
    branch = get_object_or_404(Branch, pk=pk)
    form = HeadForm(request.POST if request.method == "POST" else None, head=branch)
    if request.method == "POST" and form.is_valid():
        try:
            services.change_branch(branch, form.texts, actor=request.user)
        except Refused as refusal:
            form.add_error("name", ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("Saved. New receipts show it."), extra_tags="branch_saved")
            return redirect("shop_branches")
    return render(request, "shop/branch_detail.html", {"form": form, "branch": branch})


@staff_only(Right.CHANGE_SHOP)
@require_POST
def branch_close(request: StaffRequest, pk: int) -> HttpResponse:
    """Close a branch without people and without drawers or tills in use."""
    branch = get_object_or_404(Branch, pk=pk)
    with refusal_shown(request):
        services.close_branch(branch, actor=request.user)
        messages.success(request, _("The branch is closed. Its sales stay."), extra_tags="branch_closed")
    return redirect("shop_branches")
