"""A number or an SN leads to the answer for the customer: plain, true, and never about another customer's order."""

import html
import re

import pytest
from django.utils import timezone

from drawers.services import give_back
from purchases.models import Order
from purchases.states import ActionReason, Status
from testing.factories import make_check, make_order, make_payment, make_product
from testing.people import browser_of
from tests.core.helpers import next_question
from tests.drawers.helpers import begin, end, sell

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = "081234567890"


def told(browser, text: str) -> tuple[str, str]:
    """The code of the answer, and the text to copy; "" for none."""
    page = browser.get("/arrived/", {"q": text}).content.decode()
    code = re.search(r'id="answer" data-code="(\w+)"', page)
    copied = re.search(r'id="answer-copy" data-copy="([^"]*)"', page)
    return code[1] if code else "", html.unescape(copied[1]) if copied else ""


def test_a_number_an_sn_or_a_ref_id_leads_to_the_newest_order(cashier):
    make_order(Status.FAILED, destination=NUMBER, created_at=timezone.now() - timezone.timedelta(hours=1))
    order = make_order(Status.SUCCESS, destination=NUMBER, sn="SN-20261122-7")

    for text in (NUMBER, "+62 812-3456-7890", "0812 3456 7890", "SN-20261122-7", order.ref_id):
        code, message = told(cashier, text)

        assert code == "arrived", text
        assert [part for part in ("SN-20261122-7", order.product_name, order.ref_id) if part not in message] == []
    page = cashier.get("/arrived/", {"q": NUMBER}).content.decode()
    assert 'href="https://wa.me/6281234567890?text=' in page
    assert 'id="earlier"' in page

    # a copied number stands in the field without its invisible marks
    page = cashier.get("/arrived/", {"q": "\u202a+62 812\u20113456\u20117890\u202c"}).content.decode()
    assert 'id="answer"' in page
    assert 'value="+62 812-3456-7890"' in page  # "Show" sends it again

    # the shop's language is the customer's
    message = told(browser_of("supervisor", language="id"), NUMBER)[1]
    assert "sudah masuk" in message
    assert order.ref_id in message

    # a person who sees no whole number gets no text
    page = browser_of("auditor").get("/arrived/", {"q": NUMBER}).content.decode()
    assert 'id="no-message"' in page
    assert "wa.me" not in page
    assert "34567890" not in re.sub(r"value=\"[^\"]*\"", "", page).replace("-", "")


def test_each_status_has_its_words_and_an_unknown_one_never_failed(cashier):
    for status, facts, code in [
        (Status.PENDING, {}, "processing"),
        (Status.UNKNOWN, {}, "uncertain"),
        (Status.SENDING, {}, "uncertain"),
        (Status.QUEUED, {}, "waiting"),
        (Status.QUEUED, {"sent_no": 1}, "uncertain"),
        (Status.NEEDS_ACTION, {"action_reason": ActionReason.NEVER_ARRIVED}, "uncertain"),
        (Status.NEEDS_ACTION, {"action_reason": ActionReason.BALANCE_SHORT}, "waiting"),
        (Status.FAILED, {}, "not_through"),
        (Status.REJECTED, {}, "not_through"),
        (Status.CLOSED, {}, "closed"),
        (Status.REVERSED, {}, "reversed"),
    ]:
        make_order(status, destination=NUMBER, **facts)

        sentence, message = told(cashier, NUMBER)

        assert sentence == code, status
        if code in {"processing", "uncertain", "waiting"}:
            assert not re.search(r"fail|not go through|back", message), status
        if code in {"processing", "uncertain"}:
            assert re.search(r"every \d+ (second|minute)", message), status


def test_what_is_owed_and_what_was_given_is_said():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, 10_500, destination=NUMBER), "failed")
    browser = browser_of("supervisor")
    assert "You get your Rp10.500 back" in told(browser, NUMBER)[1]

    give_back(order.payment, method="cash", shift=shift, actor=shift.cashier)

    assert "We have given you Rp10.500 back" in told(browser, NUMBER)[1]


def test_a_token_and_a_bill_are_said_as_such(cashier):
    product = make_product(category="token-pln", brand="pln", name="Token PLN 20.000")
    make_order(Status.SUCCESS, product=product, destination="12345678901", sn="12345678901234567890/BUDI")
    make_payment(make_check(destination="77001"), Status.SUCCESS)

    assert "Token: 1234 5678 9012 3456 7890" in told(cashier, "12345678901")[1]
    assert told(cashier, "77001")[0] == "paid"


def test_what_may_be_several_numbers_is_a_choice(cashier):
    # given a number with many orders, and the same last digits of a number with an older one
    yesterday = timezone.now() - timezone.timedelta(days=1)
    older = make_order(Status.SUCCESS, destination="081300001234", sn="SAME-SN-0001", created_at=yesterday)
    for _ in range(7):
        make_order(Status.SUCCESS, destination="081200001234", sn="SAME-SN-0001")

    for text in ("1234", "SAME-SN-0001"):
        page = cashier.get("/arrived/", {"q": text}).content.decode()
        assert 'id="answer"' not in page, text
        assert older.ref_id in page.split('id="choices"')[1], text
    assert 'id="none-found"' in cashier.get("/arrived/", {"q": "089999"}).content.decode()


def test_given_a_deleted_customer_then_the_page_says_how_the_orders_are_found(cashier):
    order = make_order(Status.SUCCESS, destination=NUMBER, number_erased=True)

    page = cashier.get("/arrived/", {"q": NUMBER}).content.decode()

    assert 'id="erased-too"' in page
    assert told(cashier, order.ref_id)[0] == "arrived"


def test_an_open_order_is_followed(cashier):
    order = make_order(Status.PENDING, destination=NUMBER)
    question, _delay = next_question(cashier.get("/arrived/", {"q": NUMBER}))
    assert 'id="answer"' not in cashier.get(question).content.decode()
    Order.objects.filter(pk=order.pk).update(polls=3)

    assert 'data-code="processing"' in cashier.get(question).content.decode()


def test_the_page_and_its_poll_take_few_queries(cashier, django_assert_max_num_queries):
    for _ in range(8):
        make_order(Status.SUCCESS, destination=NUMBER, sn="SN-1")
    make_order(Status.PENDING, destination=NUMBER)
    question, _delay = next_question(cashier.get("/arrived/", {"q": NUMBER}))

    with django_assert_max_num_queries(8):
        cashier.get("/arrived/", {"q": NUMBER})
    with django_assert_max_num_queries(4):
        cashier.get(question)
    with django_assert_max_num_queries(4):
        assert 'id="answer"' in cashier.get(question.replace("~", "~old")).content.decode()
