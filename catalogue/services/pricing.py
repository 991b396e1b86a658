"""Writes the selling prices and fees of all products to their rows, by one statement."""

from django.db import connection

# Any number that only this transaction lock uses. Costs and rules change in turns: no price follows from old ones.
_LOCK = 7_310_001

# Rounded up, because customers pay whole rupiah. Split, because the product of both could overflow a bigint.
_SHARE = "price / 10000 * rule.value + (price %% 10000 * rule.value + 9999) / 10000"
# GREATEST ignores a NULL `at_least`.
_PERCENT = f"price + GREATEST({_SHARE}, rule.at_least)"
_SELLING_PRICE = f"CASE rule.kind WHEN 'fixed' THEN rule.value WHEN 'plus' THEN price + rule.value ELSE {_PERCENT} END"
_PRICES = f"""
    SELECT product.id,
           CASE product.type WHEN 'prepaid' THEN
               NULLIF(({_SELLING_PRICE} + rule.round_to - 1) / rule.round_to * rule.round_to, 0)
           END AS selling_price,
           CASE product.type WHEN 'postpaid' THEN COALESCE(rule.value, 0) ELSE 0 END AS fee
      FROM catalogue_product product LEFT JOIN LATERAL (
           SELECT * FROM {{rules}} AS active
            WHERE type = product.type AND COALESCE(
                  product_id = product.id, brand_id = product.brand_id, category_id = product.category_id, TRUE)
            ORDER BY product_id, brand_id, category_id  -- those that have none come last
            LIMIT 1
      ) rule ON TRUE
"""  # noqa: S608 - our own words
_RULES_NOW = "(SELECT * FROM catalogue_pricerule WHERE ended_at IS NULL)"
_REPRICE = """
    UPDATE catalogue_product product SET selling_price = priced.selling_price, fee = priced.fee
      FROM ({prices}) priced
     WHERE product.id = priced.id
       AND (product.selling_price IS DISTINCT FROM priced.selling_price OR product.fee <> priced.fee)
"""


def prices_by(rules: str) -> str:
    """SQL for the id, selling price and fee of every product; `rules` is SQL that selects the active rules."""
    return _PRICES.format(rules=rules)


def lock_prices() -> None:
    """Keep others from changing costs or rules until the transaction ends; call it before reading either."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def reprice() -> None:
    """Update every product's selling price and fee from its cost and the rules.

    Call it after `lock_prices`, in the transaction that has changed costs or rules.
    """
    with connection.cursor() as cursor:
        cursor.execute(_REPRICE.format(prices=prices_by(_RULES_NOW)), [])
