"""In which order products are offered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.db.models import Case, IntegerField, Q, Value, When

from catalogue.destinations import DestinationKind, Operator, is_brand_of, kind_of
from catalogue.models import Category, Product, ProductQuerySet


def busy_categories() -> list[Category]:
    """The categories with something in them: what is bought before bills, what is bought most first."""
    listed = Product.objects.listed().values("category")
    return list(Category.objects.filter(is_listed=True, pk__in=listed).order_by("-type", "-bought", "name"))


def note_bought(counts: Mapping[int, int]) -> None:
    """Keep how many of the last orders were for a product, by its pk (0 for those not named), and for its category."""
    products = list(Product.objects.only("bought", "category"))
    in_category: Counter[int] = Counter()
    for product in products:
        product.bought = counts.get(product.pk, 0)
        in_category[product.category_id] += product.bought
    Product.objects.bulk_update(products, ["bought"], batch_size=500)
    categories = list(Category.objects.only("bought"))
    for category in categories:
        category.bought = in_category[category.pk]
    Category.objects.bulk_update(categories, ["bought"])


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
