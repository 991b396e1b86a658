"""One order's full history: every room's rows in the order of time, as a page and as a file."""

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from audit.models import AuditEvent
from audit.services import record
from callbacks.services import process_batch
from catalogue.models import Product
from drawers.services import change_payment
from exports.events import EXPORT_MADE
from gateway.services import call
from purchases.events import FULL_NUMBER_SEEN
from purchases.models import Incident, Order
from purchases.models.receipts import Paper
from purchases.services import submit
from purchases.services.receipts import print_receipt
from purchases.states import Status
from reconciliation.models import Difference
from testing.callbacks import body_for, post
from testing.database import statements
from testing.factories import make_order
from testing.orders import place
from testing.people import browser_of, give_factor, make_person, signed_in
from tests.approvals.helpers import approve, approver, ask_purchase
from tests.conftest import Upstream
from tests.credit.helpers import give_credit, sell_to, take_off
from tests.drawers.helpers import begin, end, sell
from tests.gateway.helpers import kept_exchange
from tests.tills.helpers import give_printer, make_till
from tills.services import ask_opening
from upstream import requests
from upstream.budget import CallClass
from workbench.services.story import read_story
from workbench.views.story import RIGHTS


@pytest.fixture
def sold(upstream: Upstream) -> Order:
    """An order that was placed, sent, polled, reported by a callback, and printed."""
    cashier = make_person("cashier", username="kasir")
    order = place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000001", placed_by=cashier)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order.refresh_from_db()
    call(requests.transaction_status(ref_id=order.ref_id))
    post(body_for(order, trx_id=order.trx_id, price=order.price))
    process_batch(50)
    order.refresh_from_db()
    print_receipt(order, paper=Paper.MM58, printed_by=cashier)
    record(FULL_NUMBER_SEEN, actor=cashier, subject=order.ref_id)
    return order


def test_the_story_has_a_line_of_each_kind_in_order(sold: Order):
    incident = Incident.objects.create(order=sold, kind=Incident.Kind.OTHER_PRICE, source="poll", detail="x")
    difference = Difference.objects.create(
        amount=-5,
        from_no=1,
        to_no=2,
        from_at=timezone.now(),
        to_at=timezone.now(),
        label=Difference.Label.UNEXPLAINED,
        candidates=[{"ref_id": sold.ref_id, "why": "double_debit"}],
    )
    page = browser_of("auditor").get(f"/orders/{sold.ref_id}/story/")

    lines = page.context["lines"]
    assert {str(line.kind.value) for line in lines} >= {
        *("event", "exchange", "callback", "entry", "receipt", "incident", "difference", "audit"),
    }
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    assert [line.code for line in lines if line.kind == "event"] == ["queued", "sending", "pending", "success"]
    assert {incident, difference} <= {line.row for line in lines}
    assert {line.who for line in lines if line.kind == "receipt"} == {"kasir"}
    assert {line.address for line in lines if line.kind == "callback"} == {"127.0.0.1"}
    assert 'id="too-many"' not in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_story_leads_to_an_approval_only_if_the_reader_may_open_it():
    asked = ask_purchase(make_person("cashier", own_approval_above=10_000), "081290000001")
    approval, reader = approve(asked, approver()), make_person("viewer")
    reader.user_permissions.add(*Permission.objects.filter(codename__in=[right.split(".")[1] for right in RIGHTS]))
    give_factor(reader)
    browsers = [browser_of("auditor"), signed_in(reader)]

    pages = [browser.get(f"/orders/{approval.result}/story/") for browser in browsers]

    address = approval.get_absolute_url()
    assert [page.status_code for page in pages] == [200, 200]
    assert [f'href="{address}"' in page.content.decode() for page in pages] == [True, False]
    assert [browser.get(address).status_code for browser in browsers] == [200, 404]


@pytest.mark.django_db
def test_a_story_leads_to_a_shift_only_if_the_reader_may_open_it():
    seller, browser = make_person("cashier", username="kasir"), browser_of("auditor")
    begin(seller)
    story = f"/orders/{sell(seller).ref_id}/story/"
    assert 'href="/shifts/' in browser.get(story).content.decode()

    Group.objects.get(name="auditor").permissions.remove(Permission.objects.get(codename="view_shifts"))

    assert 'href="/shifts/' not in browser.get(story).content.decode()


@pytest.mark.django_db
def test_who_may_see_credit_sees_an_orders_entries():
    seller, customer = make_person("cashier", username="kasir"), give_credit()
    order = end(sell_to(customer, 10_000, by=seller), "failed")
    take_off(order, actor=seller)
    path, browser = f"/orders/{order.ref_id}/story/", browser_of("auditor")
    lines = [line for line in browser.get(path).context["lines"] if line.kind == "credit"]
    page = browser.get(f"/orders/{order.ref_id}/").content.decode()
    assert [(line.code, line.who) for line in lines] == [("credit_sale", "kasir"), ("credit_refund", "kasir")]
    assert re.findall(r'data-credit="(\w+)" data-amount="(-?\d+)"', page) == [
        ("sale", "10000"),
        ("refund", "-10000"),
    ]

    Group.objects.get(name="auditor").permissions.remove(Permission.objects.get(codename="view_credit"))

    assert not [line for line in browser.get(path).context["lines"] if line.kind == "credit"]
    assert "credit_entry" not in browser.get(f"/orders/{order.ref_id}/story.json").content.decode()


def test_a_story_names_the_till_whose_cash_drawer_opened(sold: Order):
    ask_opening(give_printer(make_till()), why="sale", what=sold.ref_id, actor=sold.placed_by)

    page = browser_of("auditor").get(f"/orders/{sold.ref_id}/story/").content.decode()

    assert "Kasir 1" in page[page.index('data-code="cash_drawer_opened"') :]


@pytest.mark.django_db
def test_a_story_says_who_corrected_the_payment_and_from_what():
    shift, manager = begin(), make_person("administrator", username="pemilik")
    order = sell(shift.cashier)
    change_payment(order.payment, method="qris", actor=manager)

    browser = browser_of("auditor")
    lines = browser.get(f"/orders/{order.ref_id}/story/").context["lines"]

    corrected = next(line for line in lines if line.code == "payment_corrected")
    assert (corrected.who, corrected.detail) == ("pemilik", "Cash → QRIS")
    log = browser.get("/audit/", {"q": order.ref_id}).content.decode()
    assert "Cash → QRIS" in log


def test_the_file_holds_bodies_and_no_secret(sold: Order, upstream: Upstream):
    answer = browser_of("auditor").get(f"/orders/{sold.ref_id}/story.json")

    told = answer.json()
    rows = {line["kind"]: line["row"] for line in told["lines"]}
    assert told["order"]["ref_id"] == sold.ref_id
    assert rows["exchange"]["raw"]["data"]["ref_id"] == sold.ref_id
    assert sold.ref_id in rows["callback"]["body"]
    assert rows["receipt"]["printed_by"] == "kasir"
    assert [row["status"] for row in told["order_history"]] == ["queued", "sending", "pending", "success"]
    assert upstream.process.secret_key not in answer.content.decode()
    kept = AuditEvent.objects.get(kind=EXPORT_MADE.key)
    assert (kept.subject, kept.person.username) == (sold.ref_id, "auditor")


def test_a_long_story_takes_few_queries_and_announces_more(sold: Order, monkeypatch: Any):
    for minutes in range(50):
        kept_exchange(sold.ref_id, at=timezone.now() - dt.timedelta(minutes=minutes))
    browser = browser_of("auditor")
    browser.get(f"/orders/{sold.ref_id}/story/")
    with statements() as asked:
        page = browser.get(f"/orders/{sold.ref_id}/story/")
    assert len(page.context["lines"]) > 60
    assert len(asked) <= 10

    monkeypatch.setattr("workbench.services.story.MOST_ROWS", 3)
    assert not read_story(sold.ref_id).is_whole
    page = browser.get(f"/orders/{sold.ref_id}/story/")
    assert 'id="too-many"' in page.content.decode()


def test_the_order_leads_to_its_story_who_may_see_all_of_it(sold: Order):
    browser, story = browser_of("auditor"), f"/orders/{sold.ref_id}/story"
    page = browser.get(f"/orders/{sold.ref_id}/").content.decode()
    assert f'href="{story}/"' in page
    assert f'href="/exchanges/?q={sold.ref_id}"' in page
    assert browser.get("/orders/NONE/story/").status_code == 404

    for role in ("viewer", "cashier", "supervisor"):
        browser = browser_of(role, username=f"a-{role}")
        assert [browser.get(address).status_code for address in (f"{story}/", f"{story}.json")] == [403, 403], role
        assert 'id="order-story"' not in browser.get(f"/orders/{sold.ref_id}/").content.decode(), role


@pytest.mark.django_db
def test_what_the_customer_pays_and_what_it_cost_are_two_numbers():
    order = make_order(Status.SUCCESS, max_price=20_275, price=20_275, selling_price=21_000)

    page = browser_of("auditor").get(f"/orders/{order.ref_id}/story/").content.decode()

    assert '<span class="price-tag">Rp21.000</span>' in page
    assert '<dd id="customer-pays">Rp21.000</dd>' in page
    assert '<dd id="cost">Rp20.275</dd>' in page
