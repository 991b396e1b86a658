"""The page of a price rule weighs each product by its sales of the last 30 days."""

import re

import pytest
from django.test.client import Client

from catalogue.models import Product
from catalogue.services import change_rule
from catalogue.services.targets import Target
from catalogue.services.terms import Terms
from purchases.states import Status
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.core.helpers import amounts_at, words_at
from tests.earnings.helpers import ago, sold, sum_past_days

pytestmark = pytest.mark.django_db(transaction=True)
TYPED = {"target": "all:prepaid", "kind": "percent", "value": "10", "round_to": "1"}


def _sold_lately(owner: Client, **typed: str) -> tuple[int, list[str]]:
    page = owner.get("/products/prices/rule/", TYPED | typed).content.decode()
    found = re.search(r'id="sold-lately" data-count="(\d+)"[^>]*>(.*?)</div>', page, re.DOTALL)
    assert found
    return int(found[1]), re.findall(r"Rp[\d.]*\d", found[2])


def test_products_weigh_as_often_as_they_were_sold_lately():
    small, large, owner = make_product(price=10_000), make_product(price=1_000_000), browser_of("admin")
    assert _sold_lately(owner) == (0, [])  # none was sold: no sum
    change_rule(Target(type="prepaid"), Terms("plus", 200), actor=make_person("administrator"))
    for days in (0, 3, 4):
        sold(ago(days, hour=0), product=small)
    sold(ago(3), Status.FAILED, product=large)
    sold(ago(31), product=large)
    sum_past_days()

    assert _sold_lately(owner) == (3, ["Rp600", "Rp3.000", "Rp4.500"])


def test_what_a_brand_earns_counts_products_whose_price_stays_too():
    # given three products of a brand, one with a fixed price and one that is delisted
    rising, fixed, gone, other = (make_product(price=10_000, code=code) for code in ("RISES", "FIXED", "GONE", "OTHER"))
    Product.objects.filter(pk=gone.pk).update(is_listed=False)
    Product.objects.filter(pk=other.pk).update(brand=make_product(brand="xl", code="XL").brand)
    owner = make_person("administrator")
    change_rule(Target(type="prepaid"), Terms("plus", 200), actor=owner)
    change_rule(Target(type="prepaid", product=fixed), Terms("fixed", 10_700), actor=owner)
    for product in (rising, fixed, fixed, gone, other):
        sold(ago(1), product=product)
    sum_past_days()

    # when the brand, or one product, gets 10 percent, then the brand earns 200 + 2 x 700 + 200 before, where the prices
    # of then earned 4 x 1.500
    admin = browser_of("admin")
    assert _sold_lately(admin, target=f"brand:{rising.brand_id}") == (4, ["Rp1.800", "Rp3.400", "Rp6.000"])
    assert _sold_lately(admin, target=f"product:{rising.pk}") == (1, ["Rp200", "Rp1.000", "Rp1.500"])


def test_what_was_earned_is_not_said_twice_where_prices_and_costs_are_as_then():
    product = make_product(price=10_500)
    change_rule(Target(type="prepaid"), Terms("plus", 1_500), actor=make_person("administrator"))
    sold(ago(0, hour=0), product=product)

    assert _sold_lately(browser_of("admin"), kind="plus", value="2.000") == (1, ["Rp1.500", "Rp2.000"])


def test_a_rule_that_earns_less_is_a_warning_and_says_how_many_prices_fall():
    small = make_product(price=10_000)
    make_product(price=1_000_000)
    change_rule(Target(type="prepaid"), Terms("plus", 2_000), actor=make_person("administrator"))
    for days in (0, 3):
        sold(ago(days, hour=0), product=small)
    owner = browser_of("admin")

    less, more = (owner.get("/products/prices/rule/", {**TYPED, "value": value}) for value in ("10", "30"))

    assert amounts_at(less, 'id="earns-less"') == ["Rp2.000"]
    assert words_at(less, 'id="falling"') == "1 price falls by Rp1.000"
    assert [words_at(more, f'id="{part}"') for part in ("earns-less", "falling")] == ["", ""]
