"""With many orders, the list reads the few that it shows, also where its filters have nothing in common."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue.models import Brand
from purchases import filters
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.plans import MANY, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_brands():
    """Thousands of orders of one brand arrived, and thousands of another brand failed."""
    for brand, status in (("steady", Status.SUCCESS), ("broken", Status.FAILED)):
        order = make_order(status, product=make_product(code=brand, brand=brand))
        earlier = "o.{0} - n * interval '1 minute'"
        at = {name: earlier.format(name) for name in ("created_at", "final_at", "sent_at")}
        keys = {"ref_id": f"'{brand}' || n", "idempotency_key": f"'{brand}' || n", "id": "o.id + 1000000 + n * 2"}
        copy_many("purchases_order", order, **keys, **at)
        Brand.objects.filter(code=brand).update(name=brand)
    weigh("purchases_order", "catalogue_product", "catalogue_brand")
    return browser_of("supervisor")


def test_failed_orders_of_a_brand_or_product_that_never_fails_read_no_others(two_brands):
    wide, shown = [], []
    for query in ("brand=steady", "product=steady"):
        with CaptureQueriesContext(connection) as queries:
            answer = two_brands.get(f"/orders/?status=failed&{query}")
        shown.append(len(answer.context["page"].rows))
        wide += too_wide(asked(queries.captured_queries))

    assert wide == []
    assert shown == [0, 0]
    assert Order.objects.count() > 2 * MANY


@pytest.mark.parametrize("query", ["brand=broken", "product=broken", "category=pulsa"])
def test_failed_orders_of_a_brand_are_found_whether_few_or_many(two_brands, monkeypatch, query):
    first = two_brands.get(f"/orders/?status=failed&{query}").context["page"]
    monkeypatch.setattr(filters, "_FEW", 2 * MANY)
    by_their_keys = two_brands.get(f"/orders/?status=failed&{query}").context["page"]

    assert len(first.rows) == 50
    assert first.rows == by_their_keys.rows
    assert first.older == by_their_keys.older != ""


@pytest.mark.parametrize("address", ["/orders/?q={}", "/find/?q={}", "/arrived/?q={}"])
def test_the_end_of_a_ref_id_reads_the_order_alone(address):
    order = make_order(Status.SUCCESS)
    keys = {"id": "o.id + 1000000 + n", "idempotency_key": "'many' || n"}
    copy_many("purchases_order", order, ref_id="'B261101-' || upper(left(md5(n::text), 10))", **keys)
    weigh("purchases_order", "drawers_payment")
    wanted = Order.objects.order_by("pk")[MANY // 2]

    with CaptureQueriesContext(connection) as queries:
        answer = browser_of("supervisor").get(address.format(wanted.ref_id[-6:].lower()))

    assert wanted.ref_id in answer.content.decode()
    assert [*too_wide(asked(queries.captured_queries))] == []
