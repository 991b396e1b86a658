"""In which order products are offered."""

from __future__ import annotations

import datetime as dt

from django.db.models import Case, Count, IntegerField, Q, Value, When
from django.utils import timezone

from catalogue.destinations import DestinationKind, Operator, is_brand_of, kind_of
from catalogue.models import Category, Product, ProductQuerySet

_LATELY = dt.timedelta(days=30)


def busy_categories() -> list[Category]:
    """The categories with something in them: what is bought before bills, what is bought most (30 days) first."""
    lately = Q(products__orders__created_at__gte=timezone.now() - _LATELY)
    return list(
        Category.objects.filter(is_listed=True, products__is_listed=True)
        .annotate(bought=Count("products__orders", filter=lately, distinct=True))
        .order_by("-type", "-bought", "name")
    )


def best_first(
    found: ProductQuerySet, *, text: str, operator: Operator | None, categories: list[Category]
) -> list[Product]:
    """The products found, best first: the operator's brands, names that begin as `text`, by price."""
    place = [When(category_id=category.pk, then=Value(i)) for i, category in enumerate(categories)]
    found = found.annotate(place=Case(*place, default=Value(len(place)), output_field=IntegerField()))
    order = ["place", "brand__name", "price", "name"]
    if text:
        begins = Case(When(Q(name__istartswith=text), then=Value(0)), default=Value(1), output_field=IntegerField())
        found = found.annotate(begins=begins)
        order = ["-type", "begins", "price", "name"]
    products = list(found.order_by(*order))
    if operator:
        # The catalogue is small (some hundreds): the operator's own come first, the others stay in their order.
        products.sort(key=lambda p: not (kind_of(p) is DestinationKind.PHONE and is_brand_of(operator, p.brand.name)))
    return products
