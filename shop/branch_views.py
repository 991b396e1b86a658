"""The branches of the shop: the list, a new one, and what the receipts of one say."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from branches import services
from branches.models import Branch
from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.rights import Right
from shop.forms import HeadForm


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
    """One branch: its name, and what its receipts say."""
    branch = get_object_or_404(Branch, pk=pk)
    form = HeadForm(request.POST if request.method == "POST" else None, head=branch)
    if request.method == "POST" and form.is_valid():
        try:
            services.change_branch(branch, form.cleaned_data, actor=request.user)
        except Refused as refusal:
            form.add_error("name", ValidationError(str(refusal), code=refusal.code))
        else:
            messages.success(request, _("Saved. New receipts show it."), extra_tags="branch_saved")
            return redirect("shop_branches")
    return render(request, "shop/branch_detail.html", {"form": form, "branch": branch})


@staff_only(Right.CHANGE_SHOP)
@require_POST
def branch_close(request: StaffRequest, pk: int) -> HttpResponse:
    """Close a branch to which nobody and nothing in use belongs."""
    branch = get_object_or_404(Branch, pk=pk)
    with refusal_shown(request):
        services.close_branch(branch, actor=request.user)
        messages.success(request, _("The branch is closed. Its sales stay."), extra_tags="branch_closed")
    return redirect("shop_branches")
