"""The shop's settings with a preview of its papers, and its logo as a file."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from branches.services import branch_names
from core.access import StaffRequest, staff_only
from core.rights import Right, Role
from shop import services
from shop.errors import LogoRefused
from shop.forms import ShopForm
from shop.models import Logo, Paper, Shop
from shop.presenting import Letterhead
from staff.roles import rights_by_role


@staff_only(Right.CHANGE_SHOP)
@require_http_methods(["GET", "POST"])
def shop_settings(request: StaffRequest) -> HttpResponse:
    """Show the settings beside the three papers; save them, or only show what was typed ("preview")."""
    shop = services.current_shop()
    form = ShopForm(request.POST, request.FILES, shop=shop) if request.method == "POST" else ShopForm(shop=shop)
    is_preview = "preview" in request.POST or "HX-Request" in request.headers
    logo = _chosen_logo(form)
    if request.method == "POST" and form.is_valid() and not is_preview:
        is_changed = services.change_shop(
            form.texts,
            actor=request.user,
            logo=logo,
            without_logo=form.cleaned_data.get("without_logo", False),
        )
        words = _("Saved. New receipts show it.") if is_changed else _("Nothing was changed.")
        messages.success(request, words, extra_tags="shop_saved" if is_changed else "shop_unchanged")
        return redirect("shop_settings")
    context = {
        "form": form,
        "shop": shop,
        "head": _typed(form, shop, logo) if request.method == "POST" else Letterhead.of(shop),
        "papers": Paper.choices,
        "too_big": str(LogoRefused("too_big")),
        "new_logo": logo,
        "branches": branch_names(),
        "sees_cost": _who_sees_cost(),
    }
    template = "backoffice/shop.html#preview" if "HX-Request" in request.headers else "backoffice/shop.html"
    return render(request, template, context)


def _who_sees_cost() -> list[str]:
    """The roles that see what the shop pays, lowest first; owners always do."""
    held = rights_by_role()
    return [str(role.label) for role in Role if role is Role.OWNER or Right.VIEW_COST in held[role]]


@staff_only(Right.CHANGE_SHOP)
@require_GET
def shop_test_print(request: StaffRequest) -> HttpResponse:
    """The example receipt on the shop's paper, as a page that prints itself."""
    shop = services.current_shop()
    return render(request, "backoffice/test_print.html", {"head": Letterhead.of(shop), "paper": shop.paper})


@staff_only()
@require_GET
def shop_logo(_request: StaffRequest, digest: str) -> HttpResponse:
    """A logo as it was uploaded, with the type that its content has; nothing in it can run."""
    logo = get_object_or_404(Logo, digest=digest)
    headers = {
        "Content-Disposition": "inline",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(bytes(logo.content), content_type=logo.content_type, headers=headers)


def _chosen_logo(form: ShopForm) -> Logo | None:
    """The logo that was chosen now, or before and kept; stored at once, because the form is saved without the file."""
    if not form.is_bound:
        return None
    form.is_valid()
    picture, kept = form.cleaned_data.get("logo"), form.cleaned_data.get("kept_logo")
    return services.store_logo(picture) if picture else kept


def _typed(form: ShopForm, shop: Shop, logo: Logo | None) -> Letterhead:
    """The values that the receipts would show: the typed values, or the stored value for a refused one."""
    head, typed = Letterhead.of(shop), form.cleaned_data
    changed: dict[str, Any] = {name: typed[name] for name in ("name", "phone", "language") if name in typed}
    changed |= {name: tuple(typed[name].splitlines()) for name in ("address", "footer") if name in typed}
    head = replace(head, **changed)
    if typed.get("without_logo"):
        return replace(head, logo="")
    return replace(head, logo=logo.get_absolute_url()) if logo else head
