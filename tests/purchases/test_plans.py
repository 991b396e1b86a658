"""With many orders, the list reads only the few that it shows, also for filters without a common order."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue.models import Brand
from customers.models import Customer, SavedNumber
from purchases import filters
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.plans import MANY, asked, copy_many, too_wide, weigh
from tests.purchases.helpers import listed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_brands():
    """Thousands of arrived orders of one brand, and thousands of failed orders of another."""
    for brand, status in (("steady", Status.SUCCESS), ("broken", Status.FAILED)):
        order = make_order(status, product=make_product(code=brand, brand=brand))
        earlier = "o.{0} - n * interval '1 minute'"
        at = {name: earlier.format(name) for name in ("created_at", "final_at", "sent_at")}
        keys = {"ref_id": f"'{brand}' || n", "idempotency_key": f"'{brand}' || n", "id": "o.id + 1000000 + n * 2"}
        copy_many("purchases_order", order, **keys, **at)
        Brand.objects.filter(code=brand).update(name=brand)
    weigh("catalogue_product", "catalogue_brand")
    return browser_of("supervisor")


def test_failed_orders_of_a_brand_are_found_by_reading_no_others(two_brands, monkeypatch):
    # of a brand that never fails
    wide, shown = [], []
    for query in ("failed&brand=steady", "failed&product=steady", "unsold&brand=steady"):
        with CaptureQueriesContext(connection) as queries:
            answer = two_brands.get(f"/orders/?status={query}")
        shown.append(len(answer.context["page"].rows))
        wide += too_wide(asked(queries.captured_queries))

    assert wide == []
    assert shown == [0, 0, 0]
    assert Order.objects.count() > 2 * MANY

    # the same orders are found whether they count as few or as many
    queries = ("failed&brand=broken", "failed&product=broken", "failed&category=pulsa", "unsold&brand=broken")
    first = [two_brands.get(f"/orders/?status={query}").context["page"] for query in queries]
    monkeypatch.setattr(filters, "_FEW", 2 * MANY)
    by_their_keys = [two_brands.get(f"/orders/?status={query}").context["page"] for query in queries]

    assert [len(page.rows) for page in first] == [50] * 4
    assert [page.rows for page in first] == [page.rows for page in by_their_keys]
    assert [page.older for page in first] == [page.older for page in by_their_keys]
    assert all(page.older for page in first)


def test_the_end_of_a_ref_id_reads_the_order_alone():
    order = make_order(Status.SUCCESS)
    keys = {"id": "o.id + 1000000 + n", "idempotency_key": "'many' || n"}
    copy_many("purchases_order", order, ref_id="'B261101-' || upper(left(md5(n::text), 10))", **keys)
    weigh()
    wanted, browser = Order.objects.order_by("pk")[MANY // 2], browser_of("supervisor")

    for address in ("/orders/?q={}", "/find/?q={}", "/arrived/?q={}"):
        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(address.format(wanted.ref_id[-6:].lower()))

        assert wanted.ref_id in answer.content.decode(), address
        assert [*too_wide(asked(queries.captured_queries))] == [], address


def test_the_number_of_a_slip_reads_its_order_alone():
    order = make_order(Status.SUCCESS)
    copy_many("drawers_payment", order.payment, id="o.id + 1000000 + n", ref_id="'S' || n", reference="'SLIP-' || n")
    keys = {"id": "o.id + 1000000 + n", "idempotency_key": "'many' || n", "ref_id": "'S' || n"}
    copy_many("purchases_order", order, payment_id="o.payment_id + 1000000 + n", **keys)
    weigh()

    with CaptureQueriesContext(connection) as queries:
        answer = browser_of("supervisor").get("/orders/?q=slip-1234")

    assert [row.ref_id for row in answer.context["page"].rows] == ["S1234"]
    assert [*too_wide(asked(queries.captured_queries))] == []


def test_the_orders_of_a_customer_who_bought_read_no_others():
    customer = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=customer, destination="081200000001", kind="phone")
    bought = make_order(Status.SUCCESS, destination="081200000001")
    keys = {"id": "o.id + 1000000 + n", "ref_id": "'many' || n", "idempotency_key": "'many' || n"}
    copy_many("purchases_order", make_order(Status.SUCCESS), **keys)
    weigh()
    supervisor = browser_of("supervisor")

    for days in ("", "&days=7", "&days=7&status=success"):
        with CaptureQueriesContext(connection) as queries:
            answer = supervisor.get(f"/orders/?buyer={customer.pk}{days}")

        assert listed(answer) == [bought.ref_id], days
        assert [*too_wide(asked(queries.captured_queries))] == [], days


def test_the_orders_of_a_branch_that_has_sold_little_read_no_others():
    second = make_branch()
    keys = {"id": "o.id + 1000000 + n", "ref_id": "'many' || n", "idempotency_key": "'many' || n"}
    copy_many("purchases_order", make_order(Status.SUCCESS), **keys)
    sold = make_order(Status.SUCCESS, placed_by=make_person("cashier", branch=second))
    weigh()
    supervisor = browser_of("supervisor")

    for branch, refs in ((second, [sold.ref_id]), (make_branch("Depok"), [])):
        with CaptureQueriesContext(connection) as queries:
            answer = supervisor.get(f"/orders/?branch={branch.pk}")

        assert listed(answer) == refs, branch
        assert [*too_wide(asked(queries.captured_queries))] == [], branch
