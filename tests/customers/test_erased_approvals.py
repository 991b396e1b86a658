"""A request for approval, open or decided, shows nothing of an erased customer, and is still done once."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from approvals.models import Approval
from approvals.services import refuse
from catalogue.models import Product
from purchases.models import Order
from purchases.services import propose_verdict, submit
from purchases.services.polling import follow
from purchases.states import Status
from testing.factories import entries_of, make_check
from testing.orders import SUBMIT, report, sent, sent_before
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approve, approver, ask_bill, ask_order, ask_purchase, cashier
from tests.conftest import Upstream
from tests.customers.helpers import NUMBER, TOKEN, erase, make_customer, says, text_of
from tests.ledger.helpers import open_books
from tests.plans import copy_many, plan_of, scans, weigh
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return browser_of("admin", username="owner")


@pytest.fixture
def sari():
    return cashier(own_approval_above=10_000)


@pytest.fixture
def asked(sari):
    """Requests for one number: a purchase that was refused, one that waits, and a bill."""
    refused = ask_purchase(sari, NUMBER)
    refuse(refused, actor=approver(), reason=f"{NUMBER} has it already")
    return [refused, ask_purchase(sari, NUMBER), ask_bill(make_check(destination=NUMBER), sari)]


def shown(asked, browser, *lists):
    """The pages, of these and the requests' own, that show texts of the customer to a person who sees whole numbers."""
    pages = [*lists, *(approval.get_absolute_url() for approval in asked)]
    return [page for page in pages if says(text_of(browser, page))]


def test_no_page_of_an_approval_shows_an_erased_number(owner, sari, asked):
    seller, lists = signed_in(sari), ("/approvals/", "/work/", "/audit/?kind=approval_asked")
    before = len(shown(asked, owner, *lists)), len(shown(asked, seller, "/counter/"))

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    assert before == (6, 4)
    assert shown(asked, owner, *lists) + shown(asked, seller, "/counter/") == []
    assert "0812-••••-•001" in text_of(owner, asked[1].get_absolute_url())


def test_no_words_of_a_proposed_decision_show_an_erased_number(owner):
    order = sent_before(report(sent(destination=NUMBER), "pending", source=SUBMIT), hours=1)
    words = {"evidence": f"mail about {NUMBER}", "reason": f"asked for {NUMBER} twice"}
    first = make_person("admin", username="first")
    decision = propose_verdict(order, outcome="failed", actor=first, **words)
    before = shown([decision.approval], owner)

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    assert len(before) == 1
    assert shown([decision.approval], owner) == []


def test_no_sn_of_a_proposed_decision_shows_an_erased_name(owner):
    # given: the order has no SN, so that only the decision has the name
    order = sent_before(report(sent(destination=NUMBER), "pending", source=SUBMIT), hours=1)
    facts = {"outcome": "success", "sn": TOKEN, "evidence": "mail", "reason": "they said so"}
    first = make_person("admin", username="first")
    decision = propose_verdict(order, actor=first, **facts)
    before = says(text_of(owner, decision.approval.get_absolute_url()))

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    after = text_of(owner, decision.approval.get_absolute_url())
    assert before == ["BUDI SANTOSO"]
    assert (says(after), TOKEN.partition("/")[0] in after) == ([], True)


def test_a_later_request_and_another_number_are_shown_whole(owner, sari, asked):
    other = ask_purchase(sari, "081299990002")
    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    later = ask_purchase(sari, NUMBER)

    assert "0812-9999-0002" in text_of(owner, other.get_absolute_url())
    assert says(text_of(owner, later.get_absolute_url())) == [NUMBER]
    assert set(Approval.objects.filter(number_erased=True)) == set(asked)


def test_a_waiting_order_of_an_erased_customer_is_sent_once_and_masked(upstream: Upstream):
    product, number = Product.objects.get(name="Telkomsel 10.000"), "081290000001"
    waiting = ask_order(product, cashier(own_approval_above=1), destination=number)
    owner = browser_of("admin", username="owner")
    erase(owner, make_customer("Bu Sari", (number, "phone")))

    approved = approve(waiting, approver())
    order = Order.objects.get(ref_id=approved.result)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=10)

    assert (order.status, str(order.destination), order.number_erased) == (Status.SUCCESS, number, True)
    assert entries_of(order) == [("hold", order.max_price), ("release", order.max_price), ("debit", order.max_price)]
    assert upstream.ledger(order) == [("debit", -order.max_price)]
    assert upstream.calls(order, "create") == ["/v1/transaction/create"]
    assert number not in text_of(owner, f"/orders/{order.ref_id}/").replace("-", "")


def test_a_waiting_bill_of_an_erased_customer_is_paid_and_masked(owner, sari):
    open_books(1_000_000)
    waiting = ask_bill(make_check(destination=NUMBER), sari)
    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    approved = approve(waiting, approver())

    order = Order.objects.get(ref_id=approved.result)
    assert (approved.state, order.status, str(order.destination)) == ("approved", Status.QUEUED, NUMBER)
    assert says(text_of(owner, f"/orders/{order.ref_id}/") + text_of(owner, approved.get_absolute_url())) == []


def test_a_number_that_another_customer_has_stays_in_its_requests(owner, sari):
    waiting = ask_purchase(sari, NUMBER)
    make_customer("Pak Budi", (NUMBER, "phone"))

    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    assert says(text_of(owner, waiting.get_absolute_url())) == [NUMBER]


def test_the_database_takes_no_mask_away_and_changes_no_decision(owner, sari):
    asked_for = ask_purchase(sari, NUMBER)
    refuse(asked_for, actor=approver(), reason="Not so")
    rows = Approval.objects.filter(pk=asked_for.pk)
    with pytest.raises(DatabaseError), transaction.atomic():  # together with the mask
        rows.update(number_erased=True, decision_reason="Fine")
    erase(owner, make_customer("Bu Sari", (NUMBER, "phone")))

    for fields in ({"number_erased": False}, {"result": "x"}, {"number_erased": False, "result": "x"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**fields)
        assert rows.get().number_erased, fields


@pytest.mark.django_db(transaction=True)
def test_approvals_of_an_erased_number_are_found_by_an_index(owner, sari):
    waiting = ask_purchase(sari, "081299990002")
    others = {"subject": "n", "content": "replace(o.content, '81299990002', '7' || n)"}
    copy_many(
        "approvals_approval",
        waiting,
        **others,
        id="o.id + 1000000 + n",
        sha256=f"encode(sha256({others['content']}::bytea), 'hex')",
    )
    weigh("approvals_approval")
    ask_purchase(sari, NUMBER)
    customer = make_customer("Bu Sari", (NUMBER, "phone"))

    with CaptureQueriesContext(connection) as queries:
        erase(owner, customer)

    begin = 'UPDATE "approvals_approval"'  # the author's name stands before it
    [update] = [query["sql"][query["sql"].index(begin) :] for query in queries if begin in query["sql"]]
    assert sum(rows for table, _kind, rows in scans(plan_of(update)) if table == "approvals_approval") <= 2
