"""The price rules that hold, and the products that they leave at or below cost."""

from django.db.models import Q
from django.utils.translation import gettext

from catalogue.models import PriceRule, Product, ProductType
from catalogue.services.targets import Target
from catalogue.services.terms import AsNow, Terms, terms_words


def own_rules(target: Target, *, is_locked: bool = False) -> list[PriceRule | None]:
    """The active rule of each part of the target; None for a part that has none."""
    active = PriceRule.objects.order_by("pk").filter(
        type=target.type, category=target.category, product=target.product, ended_at=None
    )
    active = active.filter(brand__in=target.brands) if target.brands else active.filter(brand=None)
    rules = {rule.brand_id: rule for rule in (active.select_for_update() if is_locked else active)}
    return [rules.get(part.keys[1]) for part in target.parts]


def active_rules(*which: Q) -> list[PriceRule]:
    """Every active rule, or those that match `which`, with their targets, the broadest first."""
    active = PriceRule.objects.order_by("pk").filter(*which, ended_at=None)
    active = active.select_related("category", "brand__category", "product")
    return sorted(active, key=lambda rule: (rule.type != ProductType.PREPAID, _depth(rule), Target.of(rule).name))


def narrower_targets(target: Target) -> list[Target]:
    """The targets within this one that have a rule of their own, which counts before its rule; the broadest first."""
    if target.product:
        return []
    if target.brands:
        part = Q(product__brand__in=target.brands)
    elif target.category:
        part = Q(brand__category=target.category) | Q(product__category=target.category)
    else:
        part = Q(type=target.type) & ~Q(category=None, brand=None, product=None)
    return [Target.of(rule) for rule in active_rules(part)]


def rules_above(target: Target) -> list[PriceRule | None]:
    """For each part of the target, the rule that holds if it has none of its own: that of its brand, of its category or
    of everything."""
    above = Q(category=None, brand=None, product=None)
    if target.product:
        above |= Q(brand_id=target.product.brand_id) | Q(category_id=target.product.category_id)
    elif target.brands:
        above |= Q(category__in=[brand.category_id for brand in target.brands])
    elif not target.category:
        return [None]
    rules = active_rules(above, Q(type=target.type))[::-1]
    return [
        next((rule for rule in rules if not part.brand or rule.category_id in {None, part.brand.category_id}), None)
        for part in target.parts
    ]


def _depth(rule: PriceRule) -> int:
    """0 for everything, 1 for a category, 2 for a brand, 3 for a product."""
    return next((depth for depth, key in enumerate((rule.category_id, rule.brand_id, rule.product_id), 1) if key), 0)


def sold_below_cost(most: int) -> list[Product]:
    """At most `most` listed products that sell for less than they cost, the largest loss first."""
    return list(Product.objects.below_cost()[:most])


def sold_at_cost() -> int:
    """The number of listed products that sell at cost, because they have no rule."""
    return Product.objects.at_cost().count()


def holding_words(terms: Terms | AsNow | None, above: PriceRule | None) -> str:
    """A target's own rule in a few words; without one, the wider rule that holds instead."""
    if terms or above is None:
        return terms_words(terms)
    wider = Target.of(above)
    return gettext("No rule of its own; %(name)s: %(terms)s") % {
        "name": wider.words,
        "terms": terms_words(Terms.of(above)),
    }
