"""Price rules: the effect of a change on every product, and the change itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from approvals.models import canonical, hash_of
from audit.services import record
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.events import PRICE_RULE_CHANGED
from catalogue.models import Brand, Category, PriceRule, Product, ProductType
from catalogue.services.pricing import lock_prices, prices_by, reprice
from catalogue.services.terms import Terms, name_of_all, terms_words

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Target:
    """The target of a rule: everything of a type, or one category, brand or product."""

    type: str
    category: Category | None = None
    brand: Brand | None = None
    product: Product | None = None

    @classmethod
    def of(cls, rule: PriceRule) -> Target:
        """The target of this rule; its category, brand or product is read with it."""
        return cls(type=rule.type, category=rule.category, brand=rule.brand, product=rule.product)

    @classmethod
    def find(cls, key: str) -> Target | None:
        """The target of this `key`; None when there is none."""
        what, _colon, which = key.partition(":")
        if what == "all":
            return cls(type=which) if which in ProductType.values else None
        if what not in {"category", "brand", "product"} or not (which.isascii() and which.isdecimal()):
            return None
        pk = int(which[:18])
        if what == "category":
            category = Category.objects.filter(pk=pk).first()
            return cls(type=category.type, category=category) if category else None
        if what == "brand":
            brand = Brand.objects.select_related("category").filter(pk=pk).first()
            return cls(type=brand.category.type, brand=brand) if brand else None
        product = Product.objects.filter(pk=pk).first()
        return cls(type=product.type, product=product) if product else None

    @property
    def key(self) -> str:
        """Its name in forms, approvals and events: "all:prepaid", "category:3", "brand:12", "product:345"."""
        for what, row in (("product", self.product), ("brand", self.brand), ("category", self.category)):
            if row is not None:
                return f"{what}:{row.pk}"
        return f"all:{self.type}"

    @property
    def name(self) -> str:
        """The product, the brand with its category, or the category; "" for everything."""
        if self.product:
            return f"{self.product.name} ({self.product.code})"
        if self.brand:
            return f"{self.brand.category.name} · {self.brand.name}"
        return self.category.name if self.category else ""

    @property
    def is_bill(self) -> bool:
        """Whether its rule is a fee on top of bills."""
        return self.type == ProductType.POSTPAID

    def rule(self, *, is_locked: bool = False) -> PriceRule | None:
        active = PriceRule.objects.order_by("pk").filter(
            type=self.type, category=self.category, brand=self.brand, product=self.product, ended_at=None
        )
        return (active.select_for_update() if is_locked else active).first()

    @property
    def keys(self) -> list[int | None]:
        """The keys of its category, brand and product, as the table of rules holds them."""
        return [None if row is None else row.pk for row in (self.category, self.brand, self.product)]


@dataclass(frozen=True)
class NewPrice:
    """A product's price before and after a change; for a bill, the shop's fee. All in rupiah."""

    code: str
    name: str
    is_bill: bool
    cost: int
    before: int
    after: int

    @property
    def margin(self) -> int:
        return self.after if self.is_bill else self.after - self.cost

    @property
    def is_below_cost(self) -> bool:
        """Whether it sells for less than it costs afterwards."""
        return self.margin < 0


@dataclass(frozen=True)
class Preview:
    """The effect of a change of a rule on the listed products. `rows`: a part of the `affected` ones, of which the
    prices of `falling` become lower.

    The margins are those of one sale of each of them, in rupiah; `sums_of_sold` weighs them by what is sold.
    """

    target: Target
    before: Terms | None
    after: Terms | None
    affected: int
    falling: int
    below_cost: int
    largest_loss: int
    least_margin: int
    most_margin: int
    digest: str
    rows: list[NewPrice]

    @property
    def content(self) -> dict[str, Any]:
        """The whole effect, in JSON values: the content of an approval and of an event."""
        return {
            "target": self.target.key,
            "name": self.target.name,
            "before": self.before and self.before.facts,
            "after": self.after and self.after.facts,
            "affected": self.affected,
            "below_cost": self.below_cost,
            "largest_loss": self.largest_loss,
            "prices": self.digest,
        }

    @property
    def hash(self) -> str:
        """The same in short, for the form that confirms it."""
        return hash_of(canonical(self.content))


_AFFECTED = """
    SELECT product.id, product.code, product.name, product.type = 'postpaid' AS is_bill, product.price AS cost,
           CASE product.type WHEN 'postpaid' THEN product.fee
                ELSE COALESCE(product.selling_price, product.price) END AS before,
           CASE product.type WHEN 'postpaid' THEN priced.fee
                ELSE COALESCE(priced.selling_price, product.price) END AS after
      FROM catalogue_product product JOIN ({prices}) priced ON priced.id = product.id
     WHERE product.is_listed
       AND (product.selling_price IS DISTINCT FROM priced.selling_price OR product.fee <> priced.fee)
"""
_LOSS = "CASE WHEN is_bill THEN 0 ELSE cost - after END"
_MARGIN = "CASE WHEN is_bill THEN after ELSE after - cost END"
_COUNTED = f"""
    SELECT count(*), count(*) FILTER (WHERE after < before), count(*) FILTER (WHERE {_LOSS} > 0),
           GREATEST(0, max({_LOSS})), COALESCE(min({_MARGIN}), 0), COALESCE(max({_MARGIN}), 0),
           COALESCE(md5(string_agg(concat_ws(' ', code, cost, before, after), ',' ORDER BY code)), '')
      FROM ({{affected}}) affected
"""  # noqa: S608 - our own words
# Products below cost come first; of one name the cheap ones, as 5.000 stands before 10.000.
_LISTED = f"""
    SELECT code, name, is_bill, cost, before, after FROM ({{affected}}) affected
     ORDER BY GREATEST({_LOSS}, 0) DESC, regexp_replace(name, '[0-9].*', ''), cost, name, code LIMIT %s OFFSET %s
"""  # noqa: S608 - our own words
_MARGIN_BEFORE = "CASE WHEN is_bill THEN before ELSE before - cost END"
_WEIGHED = f"""
    SELECT COALESCE(sum(sold.count), 0)::bigint, COALESCE(sum(sold.count * ({_MARGIN_BEFORE})), 0)::bigint,
           COALESCE(sum(sold.count * ({_MARGIN})), 0)::bigint
      FROM ({{affected}}) affected
      JOIN unnest(%s::bigint[], %s::bigint[]) AS sold (id, count) ON sold.id = affected.id
"""  # noqa: S608 - our own words
# The active rules as they would be: without the target's present one, and with its new one.
_RULES_THEN = """(
    SELECT type, category_id, brand_id, product_id, kind, value, round_to, at_least FROM catalogue_pricerule
     WHERE ended_at IS NULL AND (type, category_id, brand_id, product_id) IS DISTINCT FROM (%s, %s, %s, %s)
    UNION ALL
    SELECT * FROM (VALUES (%s, %s::bigint, %s::bigint, %s::bigint, %s, %s::bigint, %s::integer, %s::bigint))
        AS new (type, category_id, brand_id, product_id, kind, value, round_to, at_least) WHERE kind IS NOT NULL
)"""


def preview(target: Target, terms: Terms | None, *, first: int = 0, count: int = 0) -> Preview:
    """The effect of these terms for the target (None: no rule of its own); `count` of its products from `first` on.

    In `lock_prices` it is the real effect; otherwise the effect at this moment.
    """
    affected, values = _affected_by(target, terms)
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED.format(affected=affected), values)
        counted = cursor.fetchone()
        cursor.execute(_LISTED.format(affected=affected), [*values, count, first])
        rows = [NewPrice(*row) for row in cursor.fetchall()]
    total, falling, below_cost, loss, least, most, digest = counted
    now = Terms.of(target.rule())
    return Preview(target, now, terms, total, falling, below_cost, loss, least, most, digest, rows)


def sums_of_sold(target: Target, terms: Terms | None, sold: Mapping[int, int]) -> tuple[int, int, int]:
    """How many of these sales are of products whose price changes, and what they earn before and after, in rupiah.

    `sold`: by the key of its product, how often it was sold. Each counts at the product's cost of now.
    """
    affected, values = _affected_by(target, terms)
    with connection.cursor() as cursor:
        cursor.execute(_WEIGHED.format(affected=affected), [*values, list(sold), list(sold.values())])
        count, before, after = cursor.fetchone()
    return count, before, after


def _affected_by(target: Target, terms: Terms | None) -> tuple[str, list[Any]]:
    """The statement that lists the products whose price these terms change, and its values."""
    new = [terms.kind, terms.value, terms.round_to, terms.at_least] if terms else [None] * 4
    values = [target.type, *target.keys, target.type, *target.keys, *new]
    return _AFFECTED.format(prices=prices_by(_RULES_THEN)), values


def change_rule(
    target: Target,
    terms: Terms | None,
    *,
    actor: User,
    seen: str | None = None,
    approved_by: User | None = None,
) -> None:
    """Give the target these terms (None ends its rule), and every product its new price, in one transaction.

    `seen`: the `hash` of the preview that was confirmed. Raises `RuleRefused` when nothing would change or it is not
    what was seen, `NeedsSecondPerson` when something would sell below cost.
    """
    with transaction.atomic():
        lock_prices()
        change = preview(target, terms)
        if change.before == terms:
            raise RuleRefused("same")
        if seen not in {None, change.hash}:
            raise RuleRefused("moved")
        if change.below_cost and approved_by is None:
            raise NeedsSecondPerson(change.content)
        _write(target, terms)
        reprice()
        facts = {name: change.content[name] for name in ("affected", "below_cost", "largest_loss")}
        record(
            PRICE_RULE_CHANGED,
            actor=actor,
            subject=target.name or target.key,
            before={"target": target.key, "terms": change.content["before"]},
            after={"target": target.key, "terms": change.content["after"]},
            facts=facts | {"approved_by": approved_by.pk if approved_by else None},
        )
    log.info("price_rule_changed", by=actor.pk, target=target.key, affected=change.affected)


def _write(target: Target, terms: Terms | None) -> None:
    rule, now = target.rule(is_locked=True), timezone.now()
    if terms is None:
        if rule is not None:
            rule.ended_at = rule.changed_at = now
            rule.save(update_fields=["ended_at", "changed_at"])
        return
    if rule is None:
        rule = PriceRule(
            type=target.type, category=target.category, brand=target.brand, product=target.product, created_at=now
        )
    rule.kind, rule.value, rule.round_to, rule.changed_at = terms.kind, terms.value, terms.round_to, now
    rule.at_least = terms.at_least or None
    rule.save()


def active_rules(*which: Q) -> list[PriceRule]:
    """Every active rule, or those of `which`, the broadest first, with what it is for."""
    active = PriceRule.objects.order_by("pk").filter(*which, ended_at=None)
    active = active.select_related("category", "brand__category", "product")
    return sorted(active, key=lambda rule: (rule.type != ProductType.PREPAID, _depth(rule), Target.of(rule).name))


def narrower_targets(target: Target) -> list[Target]:
    """The parts of the target for which a rule of their own counts, the broadest first."""
    if target.product:
        return []
    if target.brand:
        part = Q(product__brand=target.brand)
    elif target.category:
        part = Q(brand__category=target.category) | Q(product__category=target.category)
    else:
        part = Q(type=target.type) & ~Q(category=None, brand=None, product=None)
    return [Target.of(rule) for rule in active_rules(part)]


def rule_above(target: Target) -> PriceRule | None:
    """The rule that holds for the target where it has none of its own: of its brand, its category, or of everything."""
    if not (target.category or target.brand or target.product):
        return None
    above = Q(category=None, brand=None, product=None)
    if target.product:
        above |= Q(brand_id=target.product.brand_id) | Q(category_id=target.product.category_id)
    elif target.brand:
        above |= Q(category_id=target.brand.category_id)
    rules = active_rules(above, Q(type=target.type))
    return rules[-1] if rules else None


def _depth(rule: PriceRule) -> int:
    """0 for everything, 1 for a category, 2 for a brand, 3 for a product."""
    return next((depth for depth, key in enumerate((rule.category_id, rule.brand_id, rule.product_id), 1) if key), 0)


def sold_below_cost(most: int) -> list[Product]:
    """At most so many listed products that sell for less than they cost, the largest loss first."""
    return list(Product.objects.below_cost()[:most])


def sold_at_cost() -> int:
    """How many listed products sell at cost, because no rule is for them."""
    return Product.objects.at_cost().count()


def holding_words(terms: Terms | None, above: PriceRule | None) -> str:
    """A target's own rule in a few words; without one, the rule above it that holds instead."""
    if terms or above is None:
        return terms_words(terms)
    wider = Target.of(above)
    return gettext("No rule of its own; %(name)s: %(terms)s") % {
        "name": wider.name or name_of_all(wider.key),
        "terms": terms_words(Terms.of(above)),
    }
