"""The foot of a long list of orders is exact if the sums of days cover it, else it says "about"."""

import pytest

from core import search
from earnings.services import keeping, sum_days
from purchases.models import Order
from purchases.states import Status
from purchases.sums import Sums, sums_of
from testing.factories import make_product
from testing.people import make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import words_at
from tests.earnings.helpers import ago, sold

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def orders(monkeypatch):
    """Two weeks of orders, whose days are summed except today; the list itself sums two orders at most."""
    monkeypatch.setattr(keeping, "LONGEST_MOVE", ago(0) - ago(0))
    make_branch()
    sari, data = make_person(username="sari"), make_product(code="DATA5", category="data", brand="data")
    for day in range(14):
        sold(ago(day), destination=f"0812000000{day:02}", placed_by=sari)
        sold(ago(day), Status.FAILED, destination=f"0813000000{day:02}", product=data, placed_by=sari)
        if day % 4 == 3:
            sold(ago(day), Status.REVERSED, destination=f"0815000000{day:02}", placed_by=sari)
    sold(ago(0), Status.PENDING, destination="081400000001")
    sum_days()
    monkeypatch.setattr(search, "MOST_SUMMED", 2)


def foot(browser, query: str) -> str:
    return words_at(browser.get(f"/orders/sums/?{query}", headers={"HX-Request": "true"}), 'id="order-sums"')


def exactly(orders, monkeypatch) -> Sums:
    with monkeypatch.context() as patched:
        patched.setattr(search, "MOST_SUMMED", 1_000)
        return sums_of(orders)


def test_the_foot_is_what_the_orders_come_to(admin, monkeypatch):
    week = {"created_at__gte": ago(6, 0)}
    for query, facts in (
        ("", {}),
        ("days=7", week),
        (f"since={ago(9).date()}&until={ago(3).date()}", {"created_at__gte": ago(9, 0), "created_at__lt": ago(2, 0)}),
        ("product=DATA5", {"product_code": "DATA5"}),
        ("category=data&days=7", {"product_code": "DATA5"} | week),
        ("cashier=sari", {"placed_by__username": "sari"}),
        ("payment=cash&days=30", {}),
        ("branch=1", {}),
        ("status=success", {"status": "success"}),
        ("status=reversed", {"status": "reversed"}),
        ("status=unsold&days=7", {"status__in": ["failed", "rejected", "reversed"]} | week),
        ("status=success&cashier=sari&days=7", {"status": "success"} | week),
    ):
        words = foot(admin, query)

        sums = exactly(Order.objects.filter(**facts), monkeypatch)
        assert sums.count > 2, query
        assert words.split()[0] == str(sums.count), query
        assert f"{sums.arrived} " in words, query
        assert f"· {sums.open} " in words, query
        assert f"Rp{sums.price:,}".replace(",", ".") in words, query
        assert f"Rp{sums.cost:,}".replace(",", ".") in words, query


def test_what_no_sums_are_kept_by_stays_about(admin):
    for query in ("status=failed", "cashier=sari&product=DATA5", "amount_from=1000", "q=0812"):
        assert not foot(admin, query).split()[0].isdecimal(), query

    keeping.SummedDay.objects.filter(day__lt=ago(5).date()).update(off_by=1)
    assert not foot(admin, "").split()[0].isdecimal()
