"""The catalogue: find a product by words, by category and brand, or from the customer's number; the price changes."""

from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from catalogue import services
from catalogue.filters import PriceChangeFilter, ProductChoice
from catalogue.models import CatalogueSync, PriceChange
from catalogue.presenting import Phone
from catalogue.tables import PriceChangeTable
from core.access import StaffRequest, staff_only
from core.paging import keyset_page
from core.rights import Right

PAGE_SIZE = 60


@staff_only(Right.VIEW_PRODUCT)
@require_GET
def catalogue(request: StaffRequest) -> HttpResponse:
    """Show the products that the choice in the URL finds; for htmx only the results."""
    choice = ProductChoice(request.GET)
    phone = Phone.read(choice.chosen["destination"])
    matches = choice.find(operator=phone.operator)
    page = Paginator(matches.keys, PAGE_SIZE).get_page(request.GET.get("page"))
    products = services.read_products(list(page.object_list))
    here = reverse("catalogue")
    context = {
        "choice": choice.chosen,
        "brands": choice.brands,
        "phone": phone,
        "and_number": f"&{urlencode({'q': phone.typed})}" if phone.typed else "",
        "categories": matches.busy_categories,
        "page": page,
        "products": products,
        "matches": matches,
        "more_url": choice.url(here, page=page.next_page_number()) if page.has_next() else "",
        "last_sync": CatalogueSync.objects.filter(result=CatalogueSync.Result.DONE).first(),
        "is_filtered": any(choice.chosen[name] for name in ("q", "category", "brand")),
    }
    if not request.headers.get("HX-Request"):
        return render(request, "catalogue/catalogue.html", context)
    if "page" in request.GET:
        return render(request, "catalogue/catalogue.html#more", context)
    return replace_url(render(request, "catalogue/catalogue.html#results", context), choice.url(here))


@staff_only(Right.VIEW_PRODUCT, Right.VIEW_PRICE_CHANGES, Right.VIEW_COST)
@require_GET
def price_changes(request: StaffRequest) -> HttpResponse:
    """Every change of a price, newest first. The first price of a new product is not a change."""
    changes = PriceChange.objects.filter(price_before__isnull=False).select_related("product__brand")
    filtered = PriceChangeFilter(request.GET, queryset=changes)
    page = keyset_page(filtered.qs, request.GET, time_field="at")
    context = {"filter": filtered, "page": page, "table": PriceChangeTable(page.rows)}
    return render(request, "catalogue/price_changes.html", context)
