"""With many orders of one cashier and for one number, the counter reads only the few that it shows."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from customers.models import Customer, SavedNumber
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order
from testing.people import make_person
from tests.core.helpers import next_question
from tests.counter.helpers import NUMBER, shelf_of_telkomsel
from tests.drawers.helpers import begin, sell
from tests.plans import MANY, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)

GROWING = {"purchases_order", "drawers_drawerentry", "drawers_shift", "customers_savednumber"}


def test_the_field_the_review_and_the_strip_stay_flat():
    product = shelf_of_telkomsel()[10_000]
    me = make_person("admin")
    begin(me)
    old = make_order(Status.SUCCESS, product=product, destination=NUMBER, placed_by=me, sn="SN-1")
    failed = make_order(Status.FAILED, product=product, destination=NUMBER, placed_by=me)
    weigh()
    earlier = "o.{0} - interval '30 days' - n * interval '1 minute'"
    for row, name in ((old, "OLD"), (failed, "BAD")):
        keys = {"ref_id": f"'{name}' || n", "idempotency_key": f"'{name}' || n", "id": "o.id + 1000000 + n * 2"}
        at = {column: earlier.format(column) for column in ("created_at", "final_at", "sent_at")}
        copy_many("purchases_order", row, **keys, **at)
    sell(me)
    weigh()
    browser = Client()
    browser.force_login(me)
    question, _delay = next_question(browser.get("/counter/"))
    wide_reads = []
    for address in (
        "/counter/",
        question,
        f"/counter/?q={NUMBER}+10",
        "/counter/?q=sari",
        f"/counter/review/?q={NUMBER}+10",
        f"/counter/review/?again={old.ref_id}",
    ):
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200, address
        wide_reads += too_wide(asked(queries.captured_queries), GROWING)

    assert wide_reads == []
    assert Order.objects.count() > MANY


def test_a_first_name_that_thousands_have_reads_only_what_is_shown(cashier):
    customers = Customer.objects.bulk_create([Customer(name=f"Sari {number}") for number in range(3_000)])
    SavedNumber.objects.bulk_create(
        [
            SavedNumber(customer=sari, destination=f"0812{number:08d}", kind="phone")
            for number, sari in enumerate(customers)
        ]
    )
    weigh("customers_customer", "customers_savednumber")

    with CaptureQueriesContext(connection) as queries:
        page = cashier.get("/counter/?q=sari", headers={"HX-Request": "true", "HX-Target": "counter-work"})

    assert page.content.decode().count("data-fills") == 4
    assert not list(too_wide(asked(queries.captured_queries), {"customers_customer", "customers_savednumber"}))
