"""The page that puts products into the first places of a till's tiles."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from catalogue.models import Product
from catalogue.services import read_products, search_products
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.rights import Right
from counter.models import MOST_FIRST
from counter.services.first_tiles import read_first_tiles, set_first_tiles
from tills.models import Till

_MOST_FOUND = 8
_LONGEST = 100


@staff_only(Right.ENROL_TILLS)
@require_http_methods(["GET", "POST"])
def till_tiles(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the first tiles, and search results to add; save their order (POST).

    The form: `tile`, the codes that stay, in order; `up`, the one that goes one place forward; `add`, one more.
    """
    till = get_object_or_404(Till, pk=pk)
    text = request.GET.get("q", "")[:_LONGEST]
    if request.method == "POST":
        with refusal_shown(request):
            is_changed = set_first_tiles(till, _wanted(request), actor=request.user)
            words = _("Saved. The counter of this till shows it.") if is_changed else _("Nothing was changed.")
            messages.success(request, words, extra_tags="tiles_saved" if is_changed else "tiles_unchanged")
        return redirect("till_tiles", pk)
    tiles = read_first_tiles(till)
    matches = read_products(search_products(text).keys[: _MOST_FOUND + len(tiles)]) if text.strip() else []
    context = {
        "till": till,
        "tiles": tiles,
        "q": text,
        "matches": [product for product in matches if product not in tiles][:_MOST_FOUND],
        "is_full": len(tiles) >= MOST_FIRST,
        "most": MOST_FIRST,
    }
    return render(request, "counter/first_tiles.html", context)


def _wanted(request: StaffRequest) -> list[Product]:
    """The products of the form, in their new order; a code that no product has is left out."""
    codes = list(dict.fromkeys([*request.POST.getlist("tile"), *request.POST.getlist("add")]))
    _move_forward(codes, request.POST.get("up", ""))
    products = {product.code: product for product in Product.objects.filter(code__in=codes)}
    return [products[code] for code in codes if code in products]


def _move_forward(codes: list[str], code: str) -> None:
    at = codes.index(code) if code in codes else 0
    if at:
        codes[at - 1], codes[at] = codes[at], codes[at - 1]
