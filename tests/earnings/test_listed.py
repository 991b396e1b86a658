"""The foot of a long list of orders is exact where the sums of days know it, and else says "about"."""

import pytest

from core import search
from earnings.services import keeping, sum_days
from purchases.models import Order
from purchases.states import Status
from purchases.sums import Sums, sums_of
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.core.helpers import words_at
from tests.earnings.helpers import ago, sold

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def orders(monkeypatch):
    """Two weeks of orders, whose days are summed but for today; the list sums two orders at most by itself."""
    monkeypatch.setattr(keeping, "LONGEST_MOVE", ago(0) - ago(0))
    sari, data = make_person(username="sari"), make_product(code="DATA5", category="data", brand="data")
    for day in range(14):
        sold(ago(day), destination=f"0812000000{day:02}", placed_by=sari)
        sold(ago(day), Status.FAILED, destination=f"0813000000{day:02}", product=data, placed_by=sari)
    sold(ago(0), Status.PENDING, destination="081400000001")
    sum_days()
    monkeypatch.setattr(search, "MOST_SUMMED", 2)


def foot(query: str) -> str:
    return words_at(
        browser_of("admin").get(f"/orders/sums/?{query}", headers={"HX-Request": "true"}), 'id="order-sums"'
    )


def exactly(orders, monkeypatch) -> Sums:
    monkeypatch.setattr(search, "MOST_SUMMED", 1_000)
    return sums_of(orders)


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ("", dict),
        ("days=7", lambda: {"created_at__gte": ago(6, 0)}),
        ("since={9}&until={3}", lambda: {"created_at__gte": ago(9, 0), "created_at__lt": ago(2, 0)}),
        ("product=DATA5", lambda: {"product_code": "DATA5"}),
        ("category=data&days=7", lambda: {"product_code": "DATA5", "created_at__gte": ago(6, 0)}),
        ("cashier=sari", lambda: {"placed_by__username": "sari"}),
        ("payment=cash&days=30", dict),
    ],
)
def test_the_foot_is_what_the_orders_come_to(query, facts, monkeypatch):
    # the days are those of this test and not of its collection, which may be before midnight
    words = foot(query.format(*(ago(days).date() for days in range(10))))

    sums = exactly(Order.objects.filter(**facts()), monkeypatch)
    assert sums.count > 2
    assert words.split()[0] == str(sums.count)
    assert f"{sums.arrived} " in words
    assert f"· {sums.open} " in words
    assert f"Rp{sums.price:,}".replace(",", ".") in words
    assert f"Rp{sums.cost:,}".replace(",", ".") in words


@pytest.mark.parametrize("query", ["status=success", "cashier=sari&product=DATA5", "amount_from=1000", "q=0812"])
def test_what_no_sums_are_kept_by_stays_about(query):
    assert not foot(query).split()[0].isdecimal()


def test_many_days_without_sums_stay_about():
    keeping.SummedDay.objects.filter(day__lt=ago(5).date()).update(off_by=1)

    assert not foot("").split()[0].isdecimal()
