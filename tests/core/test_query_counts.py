"""No list and no live page asks the database more often because it shows more rows; the numbers are pinned here."""

import datetime as dt
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.models import Alert
from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, RefusalReason
from catalogue.models import PriceChange
from customers.models import Customer, SavedNumber
from exports.models import Export
from ledger.models import Entry
from purchases.models import OrderEvent
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from staff.models import User
from tests.core.helpers import next_question
from tests.factories import make_biller, make_check, make_order, make_payment, make_product
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db

FEW, MANY = 2, 12


def ago(n):
    return timezone.now() - dt.timedelta(minutes=n)


def orders(count):
    for n in range(count):
        product = make_product(code=f"P{count}-{n}", category=f"pulsa-{count}-{n}", brand=f"brand-{count}-{n}")
        status = [Status.PENDING, Status.NEEDS_ACTION, Status.SUCCESS][n % 3]
        make_order(status, product=product, destination=f"0812{count:04d}{n:04d}", sn="SN" * (n % 3 == 2))


def bills(count):
    for n in range(count):
        biller = make_biller(code=f"B{count}-{n}", category=f"pdam-{count}-{n}", brand=f"pdam-{count}-{n}")
        check = make_check("none" if n % 2 else "bill", product=biller, destination=f"1234{count:04d}{n:04d}")
        if not n % 2:
            make_payment(check, Status.PENDING)


def customers(count):
    biller, product = make_biller(), make_product()
    for n in range(count):
        customer = Customer.objects.create(name=f"Customer {count} {n}")
        for what in (biller, product, None):
            SavedNumber.objects.create(customer=customer, destination=f"0812{n:08d}", product=what, kind="phone")


def callbacks(count):
    for n in range(count):
        facts = {"state": "applied", "processed_at": ago(n), "result": "pending → success", "headers": {}}
        Callback.objects.create(body=b"{}", content_hash=f"{count}-{n}", is_signed=True, **facts)
        CallbackRefusal.objects.create(reason=RefusalReason.SIGNATURE, size=1)
        CallbackRefusalCount.objects.create(day=ago(n * 1440), reason=f"signature-{count}", count=n)


def runs(count):
    for n in range(count):
        ReconciliationRun.objects.create(at=ago(n), trigger="beat", state="waiting", blocking=["A", "B"])


def differences(count):
    for n in range(count):
        make_difference(1, from_at=ago(n + 1), to_at=ago(n), found_at=ago(n))


def alerts(count):
    for n in range(count):
        Alert.objects.create(kind="low_balance", severity=1, opened_at=ago(n + 1), closed_at=ago(n), key=f"{count}-{n}")


def entries(count):
    for n in range(count):
        facts = {"balance_after": n + 1, "reserved_change": 0, "reserved_after": 0, "at": ago(n)}
        Entry.objects.create(kind="topup", amount=1, balance_change=1, **facts)


def prices(count):
    for n in range(count):
        product = make_product(code=f"P{count}-{n}", brand=f"brand-{count}-{n}")
        PriceChange.objects.create(product=product, price_before=1, price=2)


def files(count):
    owner = User.objects.get(username="admin")
    for n in range(count):
        facts = {"list_name": "statement", "file_format": "csv", "created_at": ago(n), "query": f"q={count}-{n}"}
        Export.objects.create(owner=owner, state="writing", rows_total=9, rows_done=n % 9, **facts)


LISTS = [
    ("/orders/", orders, 6),
    ("/bills/", bills, 5),
    ("/customers/", customers, 6),
    ("/callbacks/", callbacks, 7),
    ("/products/", orders, 7),
    ("/products/price-changes/", prices, 6),
    ("/bills/check/", bills, 6),
    ("/balance/runs/", runs, 5),
    ("/balance/differences/", differences, 5),
    ("/balance/alerts/", alerts, 6),
    ("/balance/statement/", entries, 5),
    ("/files/", files, 5),
    ("/", orders, 16),
]


def queries_of(client, address) -> list[str]:
    client.get(address)  # what is read once for all is read
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in asked.captured_queries]


@pytest.mark.parametrize(("address", "fill", "number"), LISTS)
def test_a_list_asks_as_often_for_many_rows_as_for_few(admin, address, fill, number):
    fill(FEW)
    few = queries_of(admin, address)
    fill(MANY)

    many = queries_of(admin, address)

    assert (len(few), len(many)) == (number, number), "\n".join(many)


@pytest.mark.parametrize(
    ("address", "fill", "number"),
    [
        ("/orders/", orders, 3),
        ("/bills/", bills, 3),
        ("/files/", files, 3),
        ("/", orders, 14),
        ("/balance/", differences, 12),
    ],
)
def test_a_live_page_asks_as_often_for_many_rows_as_for_few(admin, address, fill, number):
    counts = []
    for rows in (FEW, MANY):
        fill(rows)
        question, _delay = next_question(admin.get(address))
        asked = queries_of(admin, question)
        counts.append(len(asked))

    assert counts == [number, number], "\n".join(asked)


def batch_of(count):
    batch = uuid.uuid4()
    for n in range(count):
        biller = make_biller(code=f"B{count}-{n}", category=f"pdam-{count}-{n}", brand=f"pdam-{count}-{n}")
        make_check("none" if n % 2 else "bill", product=biller, destination=f"1234{count:04d}{n:04d}", batch=batch)
    return f"/bills/batch/{batch}/"


def order_with(count):
    order = make_order(Status.PENDING, destination=f"0812{count:08d}")
    for n in range(count):
        OrderEvent.objects.create(order=order, to_status=Status.PENDING, source="poll", at=ago(n))
    return f"/orders/{order.ref_id}/"


@pytest.mark.parametrize(("page_of", "number", "live"), [(batch_of, 5, 3), (order_with, 8, 6)])
def test_a_page_of_many_parts_asks_as_often_as_one_of_few(admin, page_of, number, live):
    pages, questions = [], []
    for parts in (FEW, MANY):
        address = page_of(parts)
        pages.append(queries_of(admin, address))
        questions.append(queries_of(admin, next_question(admin.get(address))[0]))

    assert [len(asked) for asked in pages] == [number, number], "\n".join(pages[-1])
    assert [len(asked) for asked in questions] == [live, live], "\n".join(questions[-1])
