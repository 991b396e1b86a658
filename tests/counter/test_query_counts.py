"""The pinned numbers of queries of the counter: the page, the field's offers, the review, a poll."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from customers.models import Customer, SavedNumber
from purchases.states import Status
from staff.models import User
from testing.factories import make_order
from tests.core.helpers import next_question
from tests.counter.helpers import NUMBER, shelf_of_telkomsel

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _busy_day(cashier):
    made = shelf_of_telkomsel()
    me = User.objects.get(username="cashier")
    sari = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=sari, destination=NUMBER, kind="phone")
    for n, status in enumerate([Status.SUCCESS, Status.PENDING, Status.UNKNOWN, Status.FAILED] * 4):
        destination = NUMBER if not n else f"0812777700{n:02d}"
        make_order(status, product=made[10_000], destination=destination, placed_by=me, sn="SN" if not n else "")


def queries_of(browser, address, **headers) -> list[str]:
    browser.get(address, headers=headers)  # a first view fills the caches
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(address, headers=headers).status_code == 200
    return [query["sql"] for query in asked.captured_queries]


def test_the_counter_asks_little(cashier):
    for address, target, most in (
        ("/counter/", "", 10),
        (f"/counter/?q={NUMBER}+10", "", 10),
        (f"/counter/?q={NUMBER}+10", "counter-work", 6),
        ("/counter/?q=sari", "counter-work", 6),
        ("/counter/?q=sari+10", "counter-work", 6),
        (f"/counter/review/?q={NUMBER}+10", "counter-panel", 11),
    ):
        headers = {"HX-Request": "true", "HX-Target": target} if target else {}

        asked = queries_of(cashier, address, **headers)

        assert len(asked) <= most, "\n".join([address, *asked])
    question, _delay = next_question(cashier.get("/counter/"))
    for address in (question, "/counter/live/?seen=counter-strip~old"):
        asked = queries_of(cashier, address)
        assert len(asked) <= 4, "\n".join([address, *asked])
