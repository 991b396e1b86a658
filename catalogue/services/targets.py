"""The target of a price rule: everything of a type, a category, a brand (in one or all categories), a product."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import F, Min, Q, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from catalogue.models import Brand, Category, PriceRule, Product, ProductType
from core.keys import typed_key


@dataclass(frozen=True, kw_only=True)
class Target:
    """The target of a rule: everything of a type, or one category, brand or product.

    With `also` it is a brand in all its categories: the brands of one name and type, each with a rule of its own.
    """

    type: str
    category: Category | None = None
    brand: Brand | None = None
    also: tuple[Brand, ...] = ()
    product: Product | None = None

    @classmethod
    def of(cls, rule: PriceRule) -> Target:
        """The target of this rule, which must have its category, brand or product loaded."""
        return cls(type=rule.type, category=rule.category, brand=rule.brand, product=rule.product)

    @classmethod
    def find(cls, key: str) -> Target | None:
        """The target of this `key`; None when there is none."""
        what, _colon, which = key.partition(":")
        if what == "all":
            return cls(type=which) if which in ProductType.values else None
        pk = typed_key(which)
        if what not in {"category", "brand", "brands", "product"} or pk is None:
            return None
        if what == "category":
            category = Category.objects.filter(pk=pk).first()
            return cls(type=category.type, category=category) if category else None
        if what == "product":
            product = Product.objects.filter(pk=pk).first()
            return cls(type=product.type, product=product) if product else None
        if what == "brands":
            return next(iter(in_several_categories(same_as=pk)), None)
        brand = Brand.objects.select_related("category").filter(pk=pk).first()
        return cls(type=brand.category.type, brand=brand) if brand else None

    @property
    def key(self) -> str:
        """Its key in forms, approvals and events: "all:prepaid", "category:3", "brand:12", "product:345"; for a brand
        in all its categories "brands:12", with the lowest of its keys."""
        for what, row in (("product", self.product), ("brand", self.brand), ("category", self.category)):
            if row is not None:
                return f"{what}{'s' if self.also else ''}:{row.pk}"
        return f"all:{self.type}"

    @property
    def name(self) -> str:
        """The product, the brand with its category or categories, or the category; "" for everything."""
        if self.product:
            return f"{self.product.name} ({self.product.code})"
        if self.brand:
            return f"{', '.join(brand.category.name for brand in self.brands)} · {self.brand.name}"
        return self.category.name if self.category else ""

    @property
    def words(self) -> str:
        """The name in short, in the reader's language."""
        if self.brand and self.also:
            return gettext("%(brand)s · all %(count)s categories") % {
                "brand": self.brand.name,
                "count": len({brand.category_id for brand in self.brands}),
            }
        return self.name or name_of_all(self.key)

    @property
    def is_bill(self) -> bool:
        """Whether its rule is a fee on top of bills."""
        return self.type == ProductType.POSTPAID

    @property
    def brands(self) -> list[Brand]:
        """Its brands, if it is for brands."""
        return [self.brand, *self.also] if self.brand else []

    @property
    def parts(self) -> list[Target]:
        """A target for each of its rules: itself, or each of its brands."""
        return [Target(type=self.type, brand=brand) for brand in self.brands] or [self]

    @property
    def of_rule(self) -> dict[str, Any]:
        """Its category, brand and product, as a rule has them."""
        return {"category": self.category, "brand": self.brand, "product": self.product}

    @property
    def keys(self) -> list[int | None]:
        """The keys of its category, brand and product; None for each that it lacks."""
        return [None if row is None else row.pk for row in (self.category, self.brand, self.product)]


def in_several_categories(same_as: int | None = None) -> list[Target]:
    """The brands in several categories of one type, by name; or only the one with the brand of the key `same_as`."""
    brands = Brand.objects.filter(is_listed=True).select_related("category").order_by("category__type", "name", "pk")
    if same_as is not None:
        one = Brand.objects.filter(pk=same_as)
        brands = brands.filter(name__in=one.values("name"), category__type__in=one.values("category__type"))
    rows = groupby(brands, key=lambda brand: (brand.category.type, brand.name))
    return [target for (_type, _name), same in rows if (target := _together(same))]


class BrandNow(NamedTuple):
    """A brand's target, how often it was sold lately, and what each of its listed products earns at least (rupiah)."""

    target: Target
    sold: int
    least: int | None


def by_what_sells(targets: Iterable[Target]) -> list[BrandNow]:
    """Targets of prepaid brands, sorted by what sold most lately (`Product.bought`), then by name."""
    each = list(targets)
    earned = Coalesce("selling_price", "price") - F("price")
    theirs = Product.objects.filter(brand__in=[brand.pk for target in each for brand in target.brands]).order_by()
    read = theirs.values_list("brand").annotate(sold=Sum("bought"), least=Min(earned, filter=Q(is_listed=True)))
    of_brand = {brand: numbers for brand, *numbers in read} if each else {}
    now = [_now(target, [of_brand[brand.pk] for brand in target.brands if brand.pk in of_brand]) for target in each]
    return sorted(now, key=lambda brand: (-brand.sold, _folded(brand.target)))


def _now(target: Target, numbers: list[list[int | None]]) -> BrandNow:
    least = [earns for _sold, earns in numbers if earns is not None]
    return BrandNow(target, sum(sold or 0 for sold, _earns in numbers), min(least, default=None))


def _folded(target: Target) -> str:
    return target.brand.name.casefold() if target.brand else ""


def _together(same: Iterable[Brand]) -> Target | None:
    first, *others = same
    if {brand.category_id for brand in others} <= {first.category_id}:
        return None
    return Target(type=first.category.type, brand=first, also=tuple(others))


def name_of_all(key: str) -> str:
    """A target without a name, "all:prepaid" or "all:postpaid", in words."""
    return gettext("Every bill") if key == f"all:{ProductType.POSTPAID}" else gettext("Every product")
