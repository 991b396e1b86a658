"""The best-selling products are counted in the background, and offered first."""

import datetime as dt

import pytest
from django.utils import timezone

from catalogue.services import search_products
from purchases.services import count_what_is_bought
from purchases.states import Status
from testing.factories import make_order, make_product

pytestmark = pytest.mark.django_db


def test_given_orders_when_counted_then_the_busiest_comes_first():
    quiet, busy = make_product(category="alpha"), make_product(category="zeta", brand="zeta")
    unsold = make_product(category="zeta", brand="zeta", bought=7)
    for number in range(3):
        make_order(Status.SUCCESS, product=busy, destination=f"08120000000{number}")
    make_order(Status.SUCCESS, product=quiet, created_at=timezone.now() - dt.timedelta(days=31))
    make_order(Status.SUCCESS, product=quiet)

    count_what_is_bought()

    busy_categories = search_products("").busy_categories
    assert [(category.code, category.bought) for category in busy_categories] == [("zeta", 3), ("alpha", 1)]
    for product, bought in ((busy, 3), (unsold, 0)):
        product.refresh_from_db()
        assert product.bought == bought
