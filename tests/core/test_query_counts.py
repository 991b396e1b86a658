"""No list and no live page takes more queries for more rows; the numbers are pinned here."""

import datetime as dt
import uuid
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLResolver, get_resolver, resolve
from django.utils import timezone

from alerts.models import Alert
from approvals.models import Approval, canonical, hash_of
from approvals.services import refuse
from bills.models import BillCheck, Inquiry
from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, RefusalReason
from catalogue.models import PriceChange
from core.rights import Role
from customers.models import Customer, SavedNumber
from exports.models import Export
from gateway.services import next_number
from ledger.models import Entry
from purchases.models import Order, OrderEvent, ReceiptPrint
from purchases.states import Status
from reconciliation.models import ReconciliationRun
from staff.models import User
from staff.services import invite
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from testing.people import make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import next_question
from tests.ledger.helpers import open_books, spend
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


def buyers(count):
    """Customers who have bought in the first of two branches."""
    if count == FEW:
        make_branch()
    for n in range(count):
        customer = Customer.objects.create(name=f"Buyer {count} {n}")
        number = SavedNumber.objects.create(customer=customer, destination=f"0813{count:04d}{n:04d}", kind="phone")
        make_order(Status.SUCCESS, destination=number.destination)


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


def people(count):
    for n in range(count):
        person, _token = invite(username=f"person-{count}-{n}", role=Role.CASHIER, actor=None)
        Client().force_login(person)


def approvals(count):
    asker = User.objects.get_or_create(username="asker")[0]
    for n in range(2 * count):
        text = canonical({"price": n + 1})
        facts = {
            "content": text,
            "sha256": hash_of(text),
            "asked_by": asker,
            "asked_at": ago(n),
            "expires_at": ago(-n - 1),
        }
        approval = Approval.objects.create(act="order", subject=f"{count}-{n}", **facts)
        if n % 2:
            refuse(approval, actor=User.objects.get(username="admin"), reason="No")


# The rows that are there, and the queries of each list and of each live page's question
LISTS = [
    (approvals, {"/approvals/": 6}, {"/approvals/": 3}),
    (
        orders,
        {"/orders/": 6, "/products/": 6, "/": 12, "/?days=7": 15, "/earnings/today/": 6, "/work/first/": 8},
        {"/orders/": 3, "/": 4, "/work/": 3},
    ),
    (bills, {"/bills/": 6}, {"/bills/": 3}),
    (customers, {"/customers/": 7}, {}),
    (buyers, {"/customers/?branch=1": 8}, {}),
    (callbacks, {"/callbacks/": 7}, {}),
    (prices, {"/products/price-changes/": 5}, {}),
    (runs, {"/balance/runs/": 4}, {}),
    (differences, {"/balance/differences/": 5}, {"/balance/": 3}),
    (alerts, {"/balance/alerts/": 6}, {}),
    (entries, {"/balance/statement/": 4}, {}),
    (files, {"/files/": 4}, {"/files/": 3}),
    (people, {"/staff/": 6}, {}),
]


def queries_of(client, address) -> list[str]:
    client.get(address)  # a first view fills the caches
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in asked.captured_queries]


@pytest.mark.parametrize(("fill", "lists", "live"), LISTS)
def test_a_list_and_a_live_page_ask_as_often_for_many_rows_as_for_few(admin, fill, lists, live, time_machine):
    time_machine.move_to(timezone.now(), tick=False)  # in another minute, a poll finds the page changed
    for rows in (FEW, MANY):
        fill(rows)
        for address, number in lists.items():
            asked = queries_of(admin, address)
            assert len(asked) == number, (rows, address, "\n".join(asked))
        for address, number in live.items():
            question, _delay = next_question(admin.get(address))
            asked = queries_of(admin, question)
            assert len(asked) == number, (rows, address, "\n".join(asked))


def batch_of(count):
    batch = uuid.uuid4()
    for n in range(count):
        biller = make_biller(code=f"B{count}-{n}", category=f"pdam-{count}-{n}", brand=f"pdam-{count}-{n}")
        make_check("none" if n % 2 else "bill", product=biller, destination=f"1234{count:04d}{n:04d}", batch=batch)
    return f"/counter/batch/{batch}/"


def order_with(count):
    order = make_order(Status.PENDING, destination=f"0812{count:08d}")
    for n in range(count):
        OrderEvent.objects.create(order=order, to_status=Status.PENDING, source="poll", at=ago(n))
    return f"/orders/{order.ref_id}/"


@pytest.mark.parametrize(("page_of", "number", "live"), [(batch_of, 4, 3), (order_with, 11, 7)])
def test_a_page_of_many_parts_asks_as_often_as_one_of_few(admin, page_of, number, live):
    pages, questions = [], []
    for parts in (FEW, MANY):
        address = page_of(parts)
        pages.append(queries_of(admin, address))
        questions.append(queries_of(admin, next_question(admin.get(address))[0]))

    assert [len(asked) for asked in pages] == [number, number], "\n".join(pages[-1])
    assert [len(asked) for asked in questions] == [live, live], "\n".join(questions[-1])


def review_of(count):
    address = batch_of(count)
    payable = BillCheck.objects.filter(answer="bill", batch=address.split("/")[3]).values_list("ref_id", flat=True)
    return f"{address}review/?{urlencode([('bill', ref_id) for ref_id in payable])}"


def numbers_of(count):
    customers(count)
    customer, biller = Customer.objects.first(), make_biller()
    for n in range(count):
        SavedNumber.objects.create(
            customer=customer, destination=f"99{count:04d}{n:04d}", product=biller, kind="customer"
        )
    return f"/customers/{customer.pk}/"


def run_of(count):
    orders(count)
    ref_ids = list(Order.objects.values_list("ref_id", flat=True))
    run = ReconciliationRun.objects.create(at=ago(1), trigger="beat", state="waiting", blocking=ref_ids)
    return f"/balance/runs/{run.pk}/"


def difference_of(count):
    orders(count)
    named = [{"ref_id": ref_id, "why": "double_debit"} for ref_id in Order.objects.values_list("ref_id", flat=True)]
    return f"/balance/differences/{make_difference(-1, candidates=named).pk}/"


def receipt_of(count):
    order = make_order(Status.SUCCESS, destination=f"0812{count:08d}", sn="SN")
    person = make_person("cashier", username=f"printer-{count}")
    for n in range(count):
        ReceiptPrint.objects.create(order=order, number=n + 1, paper="58", printed_by=person)
    return f"/orders/{order.ref_id}/receipt/"


def balance_of(count):
    orders(count)
    for order in Order.objects.all():
        make_difference(-1, candidates=[{"ref_id": order.ref_id, "why": "double_debit"}])
    return "/balance/"


def balance_news_of(count):
    balance_of(count)
    return "/balance/live/?seen=now~old,differences~old"


def payment_of(count):
    check = make_check()
    for _ in range(count):
        Inquiry.objects.create(bill_check=check, sent_no=next_number(), answer="bill", total=check.total)
    return make_payment(check, Status.FAILED).get_absolute_url()


def closing_of(count):
    if not Entry.objects.exists():
        open_books()
    for _ in range(count):
        spend(1_000, refunded=True)
    return f"/balance/closing/{timezone.localdate()}/"


def open_alerts_of(count):
    for n in range(count):
        Alert.objects.create(kind="low_balance", severity=1, key=f"open-{count}-{n}")
    return "/balance/alerts/now/?seen="


@pytest.mark.parametrize(
    ("page_of", "number"),
    [
        (review_of, 7),
        (numbers_of, 11),
        (run_of, 8),
        (difference_of, 5),
        (receipt_of, 8),
        (balance_of, 8),
        (balance_news_of, 6),
        (payment_of, 15),
        (closing_of, 5),
        (open_alerts_of, 3),
    ],
)
def test_a_page_that_holds_a_list_asks_as_often_for_many(admin, page_of, number):
    few = queries_of(admin, page_of(FEW))

    many = queries_of(admin, page_of(MANY))

    assert (len(few), len(many)) == (number, number), "\n".join(many)


def test_every_list_and_every_live_page_is_pinned_here():
    pinned = {resolve(address.partition("?")[0]).url_name for _fill, lists, _live in LISTS for address in lists}
    pinned |= {"overview_live", "order_live", "order_list_live", "bill_list_live", "counter_batch_live", "balance_live"}
    pinned |= {"work_live"}
    pinned |= {"export_live", "bill_live"}  # the last one in tests/bills/test_query_counts.py
    pinned |= {"approval_list_live", "approval_live"}  # the last one in tests/approvals/test_pages.py
    pinned |= {"counter_live"}  # in tests/counter
    pinned |= {"exchange_list", "error_list", "audit_list", "till_list"}  # in tests/workbench and tests/tills
    pinned |= {"shift_list", "drawer_list", "refund_list", "credit_list"}  # in tests/drawers and tests/credit
    pinned |= {"arrived_live", "complaint_list"}  # in tests/complaints
    pinned |= {"batch_list", "batch_row_list", "batch_live"}  # in tests/batches
    pinned |= {"due_list"}  # in tests/dues
    pinned |= {"price_list"}  # no page of rows: it reads the index of all products
    pinned |= {"first_steps_live"}  # as long as there are steps
    pinned |= {"role_list", "kind_list"}  # as long as there are roles, and categories of the upstream

    assert {name for name in url_names(get_resolver()) if name.endswith(("_list", "_live"))} <= pinned


def url_names(resolver: URLResolver) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from url_names(pattern)
        elif pattern.name:
            yield pattern.name
