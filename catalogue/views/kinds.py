"""Kinds of numbers: the kind of each category, and its correction for a category or a product."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from catalogue import services
from catalogue.forms import KindForm
from catalogue.models import Product
from catalogue.services.targets import Target
from core.access import StaffRequest, staff_only
from core.rights import Right

PAGE_SIZE = 50


@staff_only(Right.VIEW_PRODUCT, Right.CHANGE_PRICES)
@require_GET
def number_kinds(request: StaffRequest) -> HttpResponse:
    """Every listed category with the kinds of its products; categories whose kind is not known come first."""
    return render(request, "catalogue/number_kinds.html", {"categories": services.read_category_kinds()})


@staff_only(Right.VIEW_PRODUCT, Right.CHANGE_PRICES)
@require_http_methods(["GET", "POST"])
def number_kind(request: StaffRequest, key: str) -> HttpResponse:
    """Set the kind of a category's or a product's numbers; `key` is that of a `Target`, e.g. "category:3"."""
    target = Target.find(key)
    if target is None or not (target.category or target.product):
        raise Http404
    form = KindForm(request.POST or None, target=target)
    if request.method == "POST" and form.is_valid():
        services.correct_kind(target, form.chosen, actor=request.user)
        messages.success(request, _("Saved. It counts from the next sale on."), extra_tags="number_kind_changed")
        return redirect("kind_list")
    products = Product.objects.listed().filter(category=target.category) if target.category else Product.objects.none()
    page = Paginator(products.order_by("kind_source", "name"), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "catalogue/number_kind.html", {"form": form, "target": target, "page": page})
