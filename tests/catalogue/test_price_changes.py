"""Every change of a price can be looked up: the old price, the new price, the time."""

import datetime as dt

import pytest
from django.utils import timezone

from catalogue.models import PriceChange
from testing.factories import make_product
from tests.core.helpers import cells, has_id

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]

URL = "/products/price-changes/"


def changed(before, after, **facts):
    product = facts.pop("product", None) or make_product(**facts.pop("of", {}))
    return PriceChange.objects.create(product=product, price_before=before, price=after, **facts)


def test_a_change_shows_before_after_and_by_how_much(cashier):
    changed(10_500, 11_000)

    page = cashier.get(URL)

    assert cells(page, "before_after") == ["Rp10.500 → Rp11.000"]
    assert cells(page, "difference") == ["+Rp500"]


def test_the_first_price_of_a_new_product_is_no_change(cashier):
    changed(None, 11_000)

    assert has_id(cashier.get(URL), "none-yet")


def test_changes_are_found_by_product_brand_and_day(cashier):
    changed(1, 2, of={"name": "Telkomsel 10.000", "code": "TSEL10"})
    axis = make_product(name="Axis 5.000", brand="axis", code="AXIS5")
    axis.brand.name = "Axis"
    axis.brand.save()
    changed(3, 4, product=axis, at=timezone.now() - dt.timedelta(days=3))
    today = timezone.localdate()

    def products(query):
        return cells(cashier.get(f"{URL}?{query}"), "product")

    assert products("") == ["Telkomsel 10.000", "Axis 5.000"]
    for query in ("q=axis", "brand=Axis", f"until={today - dt.timedelta(days=1)}"):
        assert products(query) == ["Axis 5.000"], query
    assert products(f"q=tsel&since={today}") == ["Telkomsel 10.000"]
    assert has_id(cashier.get(f"{URL}?since=yesterday"), "filter-faults")
