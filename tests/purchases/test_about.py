"""If there are more rows than the foot of the list adds up, it says "about", and the estimate is near."""

import pytest
from django.db import connection
from django.http import QueryDict

from core import search
from purchases import sums
from purchases.lists import ORDERS
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.people import make_person
from tests.plans import MANY, copy_many

pytestmark = pytest.mark.django_db

NEAR = 0.15
QUERIES = (
    "amount_from=50000&amount_to=54000",
    "brand=AXIS&status=failed&cashier=sari",
    "brand=XL&days=30",
    "status=success",
)


@pytest.fixture
def skewed_shop(monkeypatch):
    """6,000 orders of four weeks: the older half of XL, a tenth of them dear; the newer half of AXIS, a third dear.

    The foot adds up 100 orders by itself, and reads some 1,500 for an estimate.
    """
    monkeypatch.setattr(search, "MOST_SUMMED", 100)
    monkeypatch.setattr(sums, "_SPREAD", 1_500)
    monkeypatch.setattr(sums, "_RUNS", 300)
    sari = make_person(username="sari")
    for part, (brand, often) in enumerate({"XL": 10, "AXIS": 3}.items()):
        product = make_product(code=brand, brand=brand)
        order = make_order(Status.SUCCESS, product=product, placed_by=sari, selling_price=12_000, price=10_000)
        weeks = 2 * (1 - part)
        copy_many(
            "purchases_order",
            order,
            id=f"{(part + 1) * 10_000_000} + n",
            ref_id=f"'{brand}-' || n",
            idempotency_key=f"'{brand}-' || n",
            destination="'0812' || n",
            created_at=f"o.created_at - interval '{weeks} weeks' - ({MANY} - n) * interval '6 minutes'",
            selling_price=f"CASE WHEN n %% {often} = 0 THEN 52000 + n %% 7 * 500 ELSE 12000 END",
            status=f"CASE WHEN n %% {often + 1} = 0 THEN 'failed' ELSE 'success' END",
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE purchases_order")


@pytest.mark.usefixtures("skewed_shop")
def test_an_estimate_is_near(monkeypatch: pytest.MonkeyPatch):
    person = make_person("admin")
    about = {}
    for enough, read in {1: "spread", 10**6: "newest and spread"}.items():
        monkeypatch.setattr(sums, "_ENOUGH", enough)
        for query in QUERIES:
            near = ORDERS.foot(ORDERS.find(QueryDict(query), person), person)["sums"]
            assert not near.is_exact  # each estimate is read now
            about[query, read] = near

    monkeypatch.setattr(search, "MOST_SUMMED", 10_000)
    exact = {query: sums.sums_of(ORDERS.find(QueryDict(query), person).qs) for query in QUERIES}
    assert all(summed.is_exact for summed in exact.values())
    for (query, read), near in about.items():
        for name in ("count", "arrived", "price", "cost", "others"):
            assert getattr(near, name) == pytest.approx(getattr(exact[query], name), rel=NEAR), (query, read, name)
