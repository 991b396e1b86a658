"""The queue, one approval, and the decisions on its page."""

import datetime as dt
import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.models import Approval, ApprovalState
from approvals.services import refuse
from purchases.models import Order
from testing.factories import make_check, make_order, make_product
from testing.orders import confirm, review
from testing.people import code_of, make_person, signed_in
from tests.approvals.helpers import approve, approver, ask_bill, ask_discount, ask_order, browser, cashier
from tests.core.helpers import next_question
from tests.ledger.helpers import open_books
from tests.purchases.helpers import propose
from tests.tills.helpers import give_pin, take_over, till_browser

pytestmark = pytest.mark.django_db

NUMBER = "081234567890"


def ask_on_the_page(person, product) -> Approval:
    fields = {"destination": NUMBER, "token": str(uuid.uuid4()), "price": product.price, "reason": "A wedding"}
    answer = confirm(browser(person), product, fields)
    approval = Approval.objects.latest("pk")
    assert answer.url == approval.get_absolute_url()
    return approval


def test_given_a_click_above_the_limit_then_the_asker_sees_it_wait_and_withdraws(sari):
    product, client = make_product(price=12_000), browser(sari)
    assert 'id="approval-needed"' in review(client, product).content.decode()
    assert 'id="approval-needed"' not in review(client, make_product(price=9_000)).content.decode()
    approval = ask_on_the_page(sari, product)

    page = client.get(approval.get_absolute_url()).content.decode()

    assert not Order.objects.exists()
    assert approval.reason == "A wedding"
    assert 'data-state="asked"' in page
    assert 'data-code="own"' in page
    assert 'id="withdraw"' in page
    assert 'id="approve-form"' not in page
    assert 'data-fact="selling_price">Rp12.000<' in page
    assert 'data-fact="price"' not in page
    client.post(f"{approval.get_absolute_url()}withdraw/")
    assert Approval.objects.get().state == "withdrawn"


def test_given_an_approver_then_the_page_approves_with_the_code(sari):
    approval, budi = ask_on_the_page(sari, make_product(price=12_000)), approver()
    client, address = browser(budi), approval.get_absolute_url()
    assert 'name="factor_code"' in client.get(address).content.decode()

    forged = client.post(f"{address}approve/", {"seal": "0" * 64, "factor_code": code_of(budi)})
    assert forged.status_code == 403
    for fields in ({}, {"factor_code": "000000"}):
        client.post(f"{address}approve/", {"seal": approval.seal, **fields})
        assert not Order.objects.exists()
    client.post(f"{address}approve/", {"seal": approval.seal, "factor_code": code_of(budi)})

    order = Order.objects.get()
    assert order.placed_by == sari
    assert order.get_absolute_url() in client.get(address).content.decode()
    assert address in client.get(order.get_absolute_url()).content.decode()


def test_given_a_refusal_by_who_has_the_right_then_the_asker_reads_the_reason(sari):
    approval, client = ask_on_the_page(sari, make_product(price=12_000)), browser(approver())
    nobody, auditor = browser(make_person("")), browser(make_person("auditor"))
    address = approval.get_absolute_url()
    assert nobody.get("/approvals/").status_code == 403
    assert nobody.get(address).status_code == 404
    assert auditor.get("/approvals/").status_code == 200
    assert 'data-code="no_right"' in auditor.get(address).content.decode()
    auditor.post(f"{address}refuse/", {"reason": "No"})

    client.post(f"{address}refuse/", {"reason": ""})
    assert Approval.objects.get().is_open
    client.post(f"{address}refuse/", {"reason": "Too much"})

    assert "Too much" in browser(sari).get(address).content.decode()
    assert Approval.objects.get().state == "refused"


def test_given_the_queue_then_open_ones_come_first_and_filters_work(discount, sari):
    budi, tono = approver(), cashier("tono")
    client = browser(budi)
    page = client.get("/approvals/").content.decode()
    assert 'id="none-waiting"' in page
    assert 'id="none-yet"' in page
    refuse(ask_discount(sari, subject="old"), actor=budi, reason="No")
    new = ask_discount(sari, subject="new")

    page = client.get("/approvals/").content.decode()
    assert page.index('id="waiting"') < page.index("new") < page.index('id="results"') < page.index("old")
    listed = client.get("/approvals/?state=refused").content.decode().split('id="results"')[1]
    assert ("old" in listed, "new" in listed) == (True, False)
    assert 'id="none-matches"' in client.get("/approvals/?state=expired").content.decode()

    # a cashier sees the own ones
    ask_discount(tono, subject="other")
    page = browser(tono).get("/approvals/").content.decode()
    assert page.count("data-pick") == 1
    assert new.get_absolute_url() not in page
    assert 'id="none-yet"' in page


def test_given_a_new_or_decided_one_then_the_open_pages_follow(discount, sari):
    budi = approver()
    client, of_sari = browser(budi), browser(sari)
    question, _seconds = next_question(client.get("/approvals/"))
    assert 'id="waiting"' not in client.get(question).content.decode()

    approval = ask_discount(sari)

    with CaptureQueriesContext(connection) as queries:
        answer = client.get(question).content.decode()
    assert 'id="waiting"' in answer
    assert 'hx-swap-oob="true"' in answer
    assert len(queries) <= 4

    question, _seconds = next_question(of_sari.get(approval.get_absolute_url()))
    refuse(approval, actor=budi, reason="No")

    with CaptureQueriesContext(connection) as queries:
        assert 'data-state="refused"' in of_sari.get(question).content.decode()
    assert len(queries) <= 4


def test_given_a_bill_above_the_limit_then_it_says_what_it_waits_for(sari):
    check, client = make_check(), browser(sari)

    answer = client.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total})

    approval = Approval.objects.get()
    assert answer.url == approval.get_absolute_url()
    for place in ("bills", "counter/bills"):
        page = client.get(f"/{place}/{check.ref_id}/").content.decode()
        assert 'id="bill-approval"' in page
        assert 'id="counter-pay"' not in page
        assert 'id="bill-counter"' not in page


def test_given_bills_together_then_those_above_the_limit_wait(sari):
    batch, client = uuid.uuid4(), browser(sari)
    small = make_check(batch=batch, total=9_000, amount=6_500)
    large = make_check(batch=batch)
    chosen = {"bill": [f"{check.ref_id}:{check.total}" for check in (small, large)]}
    page = client.get(f"/counter/batch/{batch}/review/", {"bill": [small.ref_id, large.ref_id]}).content.decode()
    assert 'id="approval-needed"' in page

    client.post(f"/counter/batch/{batch}/pay/", chosen)

    assert Order.objects.get().ref_id == small.ref_id
    assert Approval.objects.get().subject == large.ref_id
    page = client.get(f"/counter/batch/{batch}/").content.decode()
    assert 'data-code="waits_for_approval"' in page


def test_given_an_overdue_one_then_its_page_offers_no_decision(discount, sari, settings, time_machine):
    settings.POLICIES = {"approval_valid_hours": 1}
    approval = ask_discount(sari)
    time_machine.move_to(approval.expires_at + dt.timedelta(seconds=1))

    page = browser(approver()).get(approval.get_absolute_url()).content.decode()

    assert 'id="over-time"' in page
    assert str(ApprovalState.EXPIRED.badge) in page
    assert 'id="decide"' not in page


def test_a_page_leads_to_an_approval_only_if_the_reader_may_open_it(sari):
    # given: an order that was approved, a proposed verdict, and a bill that waits
    open_books(1_000_000)
    order = Order.objects.get(ref_id=approve(ask_order(make_product(price=12_000), sari), approver()).result)
    doubt = make_order("unknown", sent_at="2026-01-01T00:00Z")
    propose(doubt, "failed", make_person("supervisor"))
    check = make_check(batch=uuid.uuid4())
    ask_bill(check, sari)
    pages = {
        "order": order.get_absolute_url(),
        "verdict": doubt.get_absolute_url(),
        "bill": check.get_absolute_url(),
        "batch": f"/counter/batch/{check.batch}/",
    }
    readers = {role: signed_in(make_person(role)) for role in ("admin", "cashier", "viewer")}
    for name, person in (("pin", make_person("cashier", username="ani")), ("sari by pin", sari)):
        readers[name] = till_browser(name)
        take_over(readers[name], give_pin(person))

    led = {}
    for reader, client in readers.items():
        found = {name: links_to_approvals(client.get(page)) for name, page in pages.items()}
        led[reader] = {name for name, links in found.items() if links}
        assert {client.get(link, follow=True).status_code for links in found.values() for link in links} <= {200}, (
            reader
        )

    of_cashiers = {"order", "bill", "batch"}
    assert (led["admin"], led["cashier"]) == (of_cashiers | {"verdict"}, of_cashiers)
    assert (led["viewer"], led["pin"], led["sari by pin"]) == (set(), set(), of_cashiers)


def links_to_approvals(page) -> set[str]:
    assert page.status_code == 200
    return set(re.findall(r'href="((?:/counter)?/approvals/\d+/[^"]*)"', page.content.decode()))
