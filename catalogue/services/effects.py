"""The effect of a price rule's change on every product, before it is saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from approvals.models import canonical, hash_of
from catalogue.models import PriceRule
from catalogue.services.pricing import prices_by
from catalogue.services.rules import own_rules, rules_above
from catalogue.services.targets import Target
from catalogue.services.terms import AsNow, Terms, facts_of
from core.money import rupiah


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
    def margin_before(self) -> int:
        return self.before if self.is_bill else self.before - self.cost

    @property
    def is_below_cost(self) -> bool:
        """Whether it sells for less than it costs afterwards."""
        return self.margin < 0


@dataclass(frozen=True)
class Preview:
    """The effect of a change of a rule on the listed products. `rules`, `after`: for each part of the target, its rule
    now and its terms afterwards. `rows`: a page of the `affected` products; `rising` of these prices become higher,
    `falling` lower, each by `least_rise` to `most_rise` or by `least_fall` to `most_fall` rupiah.

    The margins are for one sale of each affected product, in rupiah; `sums_of_sold` counts what was sold, also
    of products whose price stays.
    `earning_less`: how many products of a brand still earn less than was asked afterwards; None if nothing was asked.
    `least_of_all`: what a sale of any product of the brand earns at least afterwards; None for other targets and bills.
    `least_product`: the name of a product that earns no more than that; its price may stay.
    """

    target: Target
    asked: Terms | AsNow | None
    rules: list[PriceRule | None]
    after: list[Terms | None]
    affected: int
    rising: int
    falling: int
    below_cost: int
    largest_loss: int
    least_margin: int
    most_margin: int
    least_rise: int
    most_rise: int
    least_fall: int
    most_fall: int
    digest: str
    rows: list[NewPrice]
    earning_less: int | None = None
    least_of_all: int | None = None
    least_product: str = ""

    @property
    def least_asked(self) -> int:
        """Rupiah that each sale was asked to earn at least; 0 if nothing was asked."""
        return self.asked.at_least if self.asked else 0

    @property
    def rise(self) -> str:
        """The rupiah by which prices rise, such as "Rp500" or "Rp500–Rp1.000"."""
        return _range(self.least_rise, self.most_rise)

    @property
    def fall(self) -> str:
        """The rupiah by which prices fall, as in `rise`."""
        return _range(self.least_fall, self.most_fall)

    @property
    def steps(self) -> str:
        """The multiples to which prices are rounded up, such as "Rp500", or several; "" without rounding."""
        return ", ".join(map(rupiah, sorted({terms.round_to for terms in self.after if terms} - {1})))

    @property
    def content(self) -> dict[str, Any]:
        """The whole effect, in JSON values: the content of an approval and of an event."""
        before = [Terms.of(rule) for rule in self.rules]
        return {
            "target": self.target.key,
            "name": self.target.name,
            "before": self._each(before) if self.target.also else facts_of(before[0]),
            "after": self._each(self.after) if isinstance(self.asked, AsNow) else facts_of(self.asked),
            "affected": self.affected,
            "below_cost": self.below_cost,
            "largest_loss": self.largest_loss,
            "prices": self.digest,
        }

    @property
    def hash(self) -> str:
        """The hash of the content, for the form that confirms it."""
        return hash_of(canonical(self.content))

    @property
    def is_same(self) -> bool:
        """Whether every rule has these terms already."""
        return [Terms.of(rule) for rule in self.rules] == self.after

    def _each(self, terms_of_parts: list[Terms | None]) -> list[dict[str, Any]]:
        parts = zip(self.target.parts, terms_of_parts, strict=True)
        return [{"target": part.key, "name": part.name, "terms": facts_of(terms)} for part, terms in parts]


_THEN = """
    SELECT product.id, product.code, product.name, product.type = 'postpaid' AS is_bill, product.price AS cost,
           CASE product.type WHEN 'postpaid' THEN product.fee
                ELSE COALESCE(product.selling_price, product.price) END AS before,
           CASE product.type WHEN 'postpaid' THEN priced.fee
                ELSE COALESCE(priced.selling_price, product.price) END AS after
      FROM catalogue_product product JOIN ({prices}) priced ON priced.id = product.id
"""
_AFFECTED = f"""{_THEN}
     WHERE product.is_listed
       AND (product.selling_price IS DISTINCT FROM priced.selling_price OR product.fee <> priced.fee)
"""
_LOSS = "CASE WHEN is_bill THEN 0 ELSE cost - after END"
_MARGIN = "CASE WHEN is_bill THEN after ELSE after - cost END"
_COUNTED = f"""
    SELECT count(*) AS affected, count(*) FILTER (WHERE after > before) AS rising,
           count(*) FILTER (WHERE after < before) AS falling, count(*) FILTER (WHERE {_LOSS} > 0) AS below_cost,
           GREATEST(0, max({_LOSS})) AS largest_loss,
           COALESCE(min({_MARGIN}), 0) AS least_margin, COALESCE(max({_MARGIN}), 0) AS most_margin,
           COALESCE(min(after - before) FILTER (WHERE after > before), 0) AS least_rise,
           GREATEST(0, max(after - before)) AS most_rise,
           COALESCE(min(before - after) FILTER (WHERE after < before), 0) AS least_fall,
           GREATEST(0, max(before - after)) AS most_fall,
           COALESCE(md5(string_agg(concat_ws(' ', code, cost, before, after), ',' ORDER BY code)), '') AS digest
      FROM ({{affected}}) affected
"""  # noqa: S608 - our own words
# Products below cost come first, then falling prices; within one name the cheap ones: 5.000 before 10.000.
_LISTED = f"""
    SELECT code, name, is_bill, cost, before, after FROM ({{affected}}) affected
     ORDER BY GREATEST({_LOSS}, 0) DESC, after >= before, regexp_replace(name, '[0-9].*', ''), cost, name, code
     LIMIT %s OFFSET %s
"""  # noqa: S608 - our own words
_MARGIN_BEFORE = "CASE WHEN is_bill THEN before ELSE before - cost END"
# Every product of the target, whether its price changes or not.
_OF_TARGET = f"""{_THEN}
     WHERE product.type = %s AND (%s::bigint IS NULL OR product.category_id = %s)
       AND (%s::bigint IS NULL OR product.id = %s)
       AND (%s::bigint[] = '{{{{}}}}' OR product.brand_id = ANY(%s::bigint[]))
"""
_WEIGHED = f"""
    SELECT COALESCE(sum(sold.count), 0)::bigint, COALESCE(sum(sold.earned), 0)::bigint,
           COALESCE(sum(sold.count * ({_MARGIN_BEFORE})), 0)::bigint, COALESCE(sum(sold.count * ({_MARGIN})), 0)::bigint
      FROM ({{of_target}}) of_target
      JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS sold (id, count, earned) ON sold.id = of_target.id
"""  # noqa: S608 - our own words
# Every listed product of the target's brands, whether its price changes or not.
_OF_BRANDS = """
    SELECT product.name, product.price AS cost, COALESCE(priced.selling_price, product.price) AS after
      FROM catalogue_product product JOIN ({prices}) priced ON priced.id = product.id
     WHERE product.is_listed AND product.type <> 'postpaid' AND product.brand_id = ANY(%s::bigint[])
"""
# What `_COUNTED` counts, and of the brands' products: how many earn less than asked, what each earns at least, and
# a product that earns no more.
_COUNTED_WITH = """
    SELECT * FROM ({counted}) counted,
           (SELECT count(*) FILTER (WHERE after - cost < %s) AS earning_less, min(after - cost) AS least_of_all,
                   COALESCE((array_agg(name ORDER BY after - cost, cost, name))[1], '') AS least_product
              FROM ({listed}) listed) of_all
"""
# The active rules after the change: without the target's present rules, with its new ones. A new rule also takes the
# place of one from before the provider changed the type of its category, or of its product.
_RULES_THEN = """(
    SELECT type, category_id, brand_id, product_id, kind, value, round_to, at_least FROM catalogue_pricerule
     WHERE ended_at IS NULL AND id <> ALL (%s::bigint[])
       AND (category_id = %s::bigint OR product_id = %s::bigint OR brand_id = ANY (%s::bigint[])) IS NOT TRUE
    UNION ALL
    SELECT %s::text, %s::bigint, brand_id, %s::bigint, kind, value, round_to, at_least
      FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::integer[], %s::bigint[])
        AS part (brand_id, kind, value, round_to, at_least)
)"""


def _range(least: int, most: int) -> str:
    return rupiah(most) if least == most else f"{rupiah(least)}–{rupiah(most)}"


def preview(
    target: Target,
    terms: Terms | AsNow | None,
    *,
    rules: list[PriceRule | None] | None = None,
    first: int = 0,
    count: int = 0,
) -> Preview:
    """The effect of these terms for the target (None: no rule of its own), with `count` rows from `first` on.

    After `lock_prices` it is the real effect, else the effect at this moment. `rules`: `own_rules`, if already read.
    """
    rules = own_rules(target) if rules is None else rules
    after = _terms_then(target, rules, terms)
    affected, values = _affected_by(target, rules, after)
    counting, counted_with = _COUNTED.format(affected=affected), values
    at_least = terms.at_least if terms else 0
    if target.brands:
        listed, _values = _affected_by(target, rules, after, question=_OF_BRANDS)
        counting = _COUNTED_WITH.format(counted=counting, listed=listed)
        counted_with = [*values, at_least, *values, [brand.pk for brand in target.brands]]
    with connection.cursor() as cursor:
        cursor.execute(counting, counted_with)
        names = [column.name for column in cursor.description or ()]
        counted = dict(zip(names, cursor.fetchone(), strict=True))
        cursor.execute(_LISTED.format(affected=affected), [*values, count, first])
        rows = [NewPrice(*row) for row in cursor.fetchall()]
    if not at_least:
        counted["earning_less"] = None
    return Preview(target, terms, rules, after, rows=rows, **counted)


class SoldSums(NamedTuple):
    """The `sales` of a target's products; rupiah `earned`, and those `before` and `after` at today's cost."""

    sales: int
    earned: int
    before: int
    after: int


def sums_of_sold(change: Preview, sold: Mapping[int, tuple[int, int]]) -> SoldSums:
    """The sums over the sales of the target's products, also of those whose price does not change.

    `sold`: product key → how often it was sold, and rupiah that this earned.
    """
    target = change.target
    of_target, values = _affected_by(target, change.rules, change.after, question=_OF_TARGET)
    category, _brand, product = target.keys
    brands = [brand.pk for brand in target.brands]
    values += [target.type, category, category, product, product, brands, brands]
    values += [list(sold), [count for count, _earned in sold.values()], [earned for _count, earned in sold.values()]]
    with connection.cursor() as cursor:
        cursor.execute(_WEIGHED.format(of_target=of_target), values)
        return SoldSums(*cursor.fetchone())


def _affected_by(
    target: Target, rules: list[PriceRule | None], after: list[Terms | None], *, question: str = ""
) -> tuple[str, list[Any]]:
    """SQL for the products whose price changes when these terms replace these rules, and its values."""
    category, _brand, product = target.keys
    new = [(part.keys[1], terms) for part, terms in zip(target.parts, after, strict=True) if terms]
    brands = [brand for brand, _terms in new]
    values = [
        [rule.pk for rule in rules if rule],
        *((category, product) if new else (None, None)),
        brands,
        *(target.type, category, product),
        brands,
        [terms.kind for _brand, terms in new],
        [terms.value for _brand, terms in new],
        [terms.round_to for _brand, terms in new],
        [terms.at_least for _brand, terms in new],
    ]
    return (question or _AFFECTED).format(prices=prices_by(_RULES_THEN)), values


def _terms_then(target: Target, rules: list[PriceRule | None], asked: Terms | AsNow | None) -> list[Terms | None]:
    """The terms of each part of the target after the change. A part for which nothing changes keeps what it has."""
    if not isinstance(asked, AsNow):
        return [asked] * len(rules)
    held = [(rule, Terms.of(rule or above)) for rule, above in zip(rules, rules_above(target), strict=True)]
    return [Terms.of(rule) if (terms := asked.instead_of(holding)) == holding else terms for rule, holding in held]
