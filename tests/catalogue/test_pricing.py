"""The selling price follows from the cost and the most specific rule, and is kept on the product."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from catalogue.models import PriceRule, Product
from catalogue.services import sync_catalogue
from catalogue.services.pricing import lock_prices, reprice
from testing.factories import make_biller, make_product
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db


def _rule(**facts: Any) -> PriceRule:
    return PriceRule.objects.create(**{"type": "prepaid", "kind": "plus", "value": 1_000, **facts})


def _repriced(*products: Product) -> list[int | None]:
    with transaction.atomic():
        lock_prices()
        reprice()
    for product in products:
        product.refresh_from_db()
    return [product.selling_price for product in products]


def test_a_rule_makes_the_price_and_rounds_it_up_until_it_ends():
    product = make_product(price=10_200)
    assert _repriced(product) == [None]
    assert product.sells_for == 10_200, "without a rule it sells at cost"

    rule = _rule(product=product)
    for kind, value, round_to, price in [
        ("fixed", 12_000, 1, 12_000),
        ("plus", 1_500, 1, 11_700),
        ("plus", 1_500, 500, 12_000),
        ("plus", 1_800, 1_000, 12_000),
        ("plus", 1_801, 1_000, 13_000),
        ("percent", 250, 1, 10_455),
        ("percent", 333, 1, 10_540),  # 10.539,66 is rounded up
        ("percent", 250, 100, 10_500),
        ("percent", 0, 1, 10_200),
    ]:
        PriceRule.objects.filter(pk=rule.pk).update(kind=kind, value=value, round_to=round_to)
        assert _repriced(product) == [price], (kind, value, round_to)

    PriceRule.objects.filter(pk=rule.pk).update(ended_at=rule.created_at)
    assert _repriced(product) == [None]


def test_a_percentage_adds_at_least_so_much_and_is_then_rounded():
    product = make_product(price=10_200)
    rule = _rule(product=product, kind="percent")
    for value, at_least, round_to, price in [
        (250, 200, 1, 10_455),  # the percentage adds 255
        (250, 255, 1, 10_455),
        (250, 256, 1, 10_456),
        (250, 500, 1, 10_700),
        (333, 340, 1, 10_540),  # 339,66 is rounded up to the same amount
        (333, 341, 1, 10_541),
        (0, 500, 1, 10_700),
        (0, 1, 1, 10_201),
        (250, 500, 500, 11_000),
        (250, 300, 500, 10_500),  # the larger of both, then rounded up
        (250, 301, 500, 11_000),
        (250, 1_000_000_000, 1, 1_000_010_200),
    ]:
        PriceRule.objects.filter(pk=rule.pk).update(value=value, at_least=at_least, round_to=round_to)
        assert _repriced(product) == [price], (value, at_least, round_to)

    # a product that costs nothing, and the dearest one with the highest percentage
    for cost, value, at_least, price in [
        (0, 250, 500, 500),
        (10**15 - 1, 100_000, None, 11 * (10**15 - 1)),
        (10**15 - 1, 100_000, 1_000_000_000, 11 * (10**15 - 1)),
    ]:
        Product.objects.filter(pk=product.pk).update(price=cost)
        PriceRule.objects.filter(pk=rule.pk).update(value=value, at_least=at_least, round_to=1)
        assert _repriced(product) == [price], cost


def test_the_most_specific_rule_wins():
    product, same_brand = make_product(price=10_000), make_product(price=10_000)
    same_category, other = make_product(price=10_000, brand="xl"), make_product(price=10_000, category="data")
    _rule(value=1)
    _rule(category=product.category, value=2)
    _rule(brand=product.brand, value=3)
    _rule(product=product, value=4)

    assert _repriced(product, same_brand, same_category, other) == [10_004, 10_003, 10_002, 10_001]


def test_a_bill_has_a_fee_and_no_selling_price():
    biller, product = make_biller(), make_product()
    _rule(type="postpaid", value=2_500)

    assert _repriced(biller, product) == [None, None]
    assert (biller.fee, product.fee) == (2_500, 0)


def test_the_database_refuses_a_rule_without_sense():
    for facts, constraint in [
        ({"kind": "fixed", "value": 0}, "price_rule_value_makes_sense"),
        ({"kind": "percent", "value": 100_001}, "price_rule_value_makes_sense"),
        ({"kind": "plus", "at_least": 500}, "price_rule_least_of_a_percentage"),
        ({"kind": "fixed", "at_least": 500}, "price_rule_least_of_a_percentage"),
        ({"kind": "percent", "at_least": 0}, "price_rule_least_of_a_percentage"),
        ({"kind": "percent", "at_least": 1_000_000_001}, "price_rule_least_of_a_percentage"),
        ({"type": "postpaid", "at_least": 500}, "price_rule_least_of_a_percentage"),
        ({"round_to": 250}, "price_rule_rounding_known"),
        ({"type": "postpaid", "kind": "percent"}, "price_rule_of_bills_is_a_fee"),
    ]:
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            _rule(**facts)


def test_a_rule_is_for_one_thing_once_and_never_deleted():
    product = make_product()
    with pytest.raises(IntegrityError, match="price_rule_for_one_thing"), transaction.atomic():
        _rule(product=product, brand=product.brand)
    rule = _rule(product=product)
    with pytest.raises(IntegrityError, match="price_rule_once_for_each_product"), transaction.atomic():
        _rule(product=product)
    _rule(category=product.category)
    with pytest.raises(DatabaseError, match="Cannot delete"), transaction.atomic():
        rule.delete()
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        PriceRule.objects.filter(pk=rule.pk).update(product=None)


def test_a_sync_moves_the_selling_price_with_the_cost_and_takes_it_from_a_bill(upstream: Upstream):
    product, moved = (Product.objects.get(name=f"Telkomsel {name}") for name in ("10.000", "20.000"))
    biller = Product.objects.filter(type="postpaid").first()
    assert biller is not None
    _rule(type="postpaid", value=2_500)
    _rule(product=moved, value=500)
    upstream.control("product", product_code=moved.code, price=moved.price + 75)
    # As if the upstream had swapped both types: the next catalogue swaps them back.
    Product.objects.filter(pk=product.pk).update(type="postpaid", fee=2_500)
    Product.objects.filter(pk=biller.pk).update(type="prepaid", fee=0, selling_price=5_000)

    sync_catalogue()

    cost = moved.price + 75
    for row in (product, biller, moved):
        row.refresh_from_db()
    assert (product.type, product.selling_price, product.fee) == ("prepaid", None, 0)
    assert (biller.type, biller.selling_price, biller.fee) == ("postpaid", None, 2_500)
    assert (moved.price, moved.selling_price) == (cost, cost + 500)
