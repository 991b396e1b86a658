"""The catalogue: find a product by words, by category and brand, or from the customer's phone number."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Case, Count, IntegerField, Q, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from backoffice.access import StaffRequest, staff_only
from purchases.destinations import DestinationKind, is_brand_of, kind_of, normalise, operator_of, shown
from purchases.errors import InvalidDestination
from purchases.models import Brand, CatalogueSync, Category, Product

PAGE_SIZE = 60
_PHONE_LIKE = re.compile(r"(\+?62|0)\s?8[\d\s.\-]{4,}")


@dataclass(frozen=True)
class Phone:
    """The customer's number as typed, and what it tells: `number` is empty while it is not complete."""

    typed: str
    number: str
    shown: str
    operator: str

    @classmethod
    def read(cls, typed: str) -> Phone:
        """Recognise a number in any notation."""
        try:
            number = normalise(DestinationKind.PHONE, typed) if typed else ""
        except InvalidDestination:
            number = ""
        return cls(
            typed=typed,
            number=number,
            shown=shown(DestinationKind.PHONE, number) if number else "",
            operator=operator_of(typed) or "",
        )


@dataclass(frozen=True)
class Choice:
    """What the person has chosen so far; it all lives in the URL."""

    q: str
    category: str
    brand: str
    destination: str

    @classmethod
    def read(cls, request: HttpRequest) -> Choice:
        """Take the choice from the query string."""
        values = {name: request.GET.get(name, "").strip()[:100] for name in ("q", "category", "brand", "destination")}
        # A NUL cannot be in anything we look for, and PostgreSQL refuses it.
        choice = cls(**{name: value.replace("\0", "") for name, value in values.items()})
        if not choice.destination and _PHONE_LIKE.fullmatch(choice.q):
            # Cashiers type the number wherever the cursor stands.
            return cls(**(vars(choice) | {"q": "", "destination": choice.q}))
        return choice

    def url(self, path: str = "", **changes: str) -> str:
        """The catalogue's address (or `path`) for this choice with `changes`; what is empty is left out."""
        values = {name: value for name, value in (vars(self) | changes).items() if value}
        return (path or reverse("catalogue")) + (f"?{urlencode(values)}" if values else "")


@staff_only("purchases.view_product")
@require_GET
def catalogue(request: StaffRequest) -> HttpResponse:
    """Show what the choice in the URL finds; for htmx only the results."""
    choice = Choice.read(request)
    phone = Phone.read(choice.destination)
    categories = _categories()
    brands = list(
        Brand.objects.filter(is_listed=True, products__is_listed=True, category__code=choice.category).distinct()
        if choice.category
        else []
    )
    if choice.brand and choice.brand not in {brand.code for brand in brands}:
        choice = Choice(**(vars(choice) | {"brand": ""}))
    page = Paginator(_products(choice, phone, categories), PAGE_SIZE).get_page(request.GET.get("page"))
    for product in page.object_list:
        product.takes_phone = kind_of(product) in {DestinationKind.PHONE, DestinationKind.CARD}  # type: ignore[attr-defined]
    context = {
        "choice": choice,
        "phone": phone,
        "categories": categories,
        "brands": brands,
        "page": page,
        "more_url": choice.url(page=str(page.next_page_number())) if page.has_next() else "",
        "last_sync": CatalogueSync.objects.filter(result=CatalogueSync.Result.DONE).first(),
        "is_filtered": any((choice.q, choice.category, choice.brand)),
    }
    if not request.headers.get("HX-Request"):
        return render(request, "purchases/catalogue.html", context)
    if "page" in request.GET:
        return render(request, "purchases/catalogue.html#more", context)
    return replace_url(render(request, "purchases/catalogue.html#results", context), choice.url())


def _categories() -> list[Category]:
    """The categories with something in them: what is bought before bills, what is bought most (30 days) first."""
    lately = Q(products__orders__created_at__gte=timezone.now() - dt.timedelta(days=30))
    return list(
        Category.objects.filter(is_listed=True, products__is_listed=True)
        .annotate(bought=Count("products__orders", filter=lately, distinct=True))
        .order_by("-type", "-bought", "name")
    )


def _products(choice: Choice, phone: Phone, categories: list[Category]) -> list[Product]:
    """The listed products for `choice`, best first: the operator's brands, names that begin as typed, by price."""
    found = Product.objects.listed().select_related("brand", "category").matching(choice.q)
    if choice.category:
        found = found.filter(category__code=choice.category)
    if choice.brand:
        found = found.filter(brand__code=choice.brand)
    place = [When(category_id=category.pk, then=Value(i)) for i, category in enumerate(categories)]
    found = found.annotate(place=Case(*place, default=Value(len(place)), output_field=IntegerField()))
    order = ["place", "brand__name", "price", "name"]
    if choice.q:
        begins = Case(When(Q(name__istartswith=choice.q), then=Value(0)), default=Value(1), output_field=IntegerField())
        found = found.annotate(begins=begins)
        order = ["-type", "begins", "price", "name"]
    products = list(found.order_by(*order))
    if phone.operator:
        # The catalogue is small (some hundreds): the operator's own come first, the others stay in their order.
        products.sort(
            key=lambda p: not (kind_of(p) is DestinationKind.PHONE and is_brand_of(phone.operator, p.brand.name))
        )
    return products
