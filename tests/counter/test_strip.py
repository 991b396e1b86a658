"""Around the counter's field: the strip of running orders, refunds due, the pills."""

import re

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import services as approvals
from catalogue.models import Product
from core.times import short_time
from drawers.models import DrawerEntry, Payment
from drawers.services import PaymentFacts, close_shift, open_shift_of, pay_in
from policies.models import Policies
from policies.services import forget
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import ask_purchase
from tests.core.helpers import codes, has_id, next_question, words_at
from tests.counter.helpers import NUMBER
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


def test_the_strip_shows_the_own_orders_and_what_was_sold(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    facts = {"product": telkomsel[10_000], "selling_price": 12_000, "price": 10_250}
    done = make_order(Status.SUCCESS, destination=NUMBER, placed_by=me, sn="SN-1", **facts)
    runs = make_order(Status.PENDING, destination="081200000001", placed_by=me, **facts)
    others = make_order(Status.PENDING, destination="081200000002", **facts)

    page = cashier.get("/counter/")

    shown = page.content.decode()
    assert [f'data-ref="{order.ref_id}"' in shown for order in (done, runs, others)] == [True, True, False]
    assert [[row.order for row in rows] for _title, rows in page.context["strip"].parts] == [[runs], [done]]
    assert "Rp12.000" in words_at(page, 'id="counter-today"')
    assert 'data-sold="1"' in shown
    assert not has_id(page, "counter-profit")
    assert 'class="run-number">0812 3456 7890<' in shown, "as a whole on one line"
    assert "0812-" not in re.sub(r'="[^"]*"', "", shown)
    text = cashier.get(f"/counter/orders/{done.ref_id}/whatsapp/")
    assert text["Location"].startswith("https://wa.me/6281234567890?text=")


def test_the_line_above_the_field_has_the_token_with_its_whatsapp_and_receipt(cashier):
    me, sn = User.objects.get(username="cashier"), "12345678901234567890/BUDI/R1/900VA/32.1"
    for category, has_token in (("pulsa", False), ("token-pln", True)):
        product = make_product(name="Token PLN 50.000", category=category)
        order = make_order(Status.SUCCESS, product=product, destination="12345678901", placed_by=me, sn=sn)

        lines = re.findall(r"<template>(.*?)</template>", cashier.get("/counter/").content.decode(), re.DOTALL)
        said = next((line for line in lines if order.ref_id in line), lines[0])

        assert bool(re.search(r"data-token>1234[ -]5678", said)) == has_token, category
        assert (f"/orders/{order.ref_id}/receipt/" in said, "WhatsApp" in said) == (has_token, has_token)


def test_a_row_that_seems_never_to_have_arrived_warns_as_the_unknown_one_did(cashier, telkomsel):
    facts = {"placed_by": User.objects.get(username="cashier"), "product": telkomsel[10_000]}
    make_order(Status.UNKNOWN, destination=NUMBER, **facts)
    make_order(Status.NEEDS_ACTION, destination="081234567891", **facts)

    page = cashier.get("/counter/").content.decode()
    said = re.findall(r"data-says>(.+?)<", page)

    assert (len(said), len(set(said))) == (2, 1)
    assert page.count(said[0]) == 4  # also the line above the field


def test_refunds_due_stay_in_the_strip_however_many_sales_are_newer(cashier, telkomsel):
    # given: three failed sales that owe their money, one that has it back, and newer open sales
    me = User.objects.get(username="cashier")
    begin(me)
    owed = [end(sell(me, 12_000, destination=f"08123456780{n}"), "failed") for n in range(3)]
    given = end(sell(me, 12_000, destination="081234567809"), "failed")
    cashier.post(f"/counter/orders/{given.ref_id}/give-back/")
    running = [sell(me, 12_000, destination=f"08123456781{n}") for n in range(8)]

    page = cashier.get("/counter/")

    # then: the refunds due stand below the open orders, with the key that gives each back
    parts = [[row.order for row in rows] for _title, rows in page.context["strip"].parts]
    assert parts == [running[::-1], owed[::-1]]
    assert page.content.decode().count('data-act="g"') == 3

    # when: all open orders have ended
    for order in running:
        end(order, "success")

    parts = [[row.order for row in rows] for _title, rows in cashier.get("/counter/").context["strip"].parts]
    assert parts == [owed[::-1], running[:1:-1]]


def test_a_failed_row_gives_the_cash_back_once_from_the_own_drawer(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    shift = begin(me)
    order = end(sell(me, 12_000), "failed")
    page = cashier.get("/counter/")
    before, (question, _delay) = words_at(page, "data-says"), next_question(page)
    address = f"/counter/orders/{order.ref_id}/give-back/"
    assert f'action="{address}"' in page.content.decode()

    first, again = [cashier.post(address, headers={"HX-Request": "true"}) for _ in range(2)]

    assert [codes(answer) for answer in (first, again)] == [{"given_back"}, {"DrawerRefused:given_back"}]
    refunds = DrawerEntry.objects.filter(kind="refund").values_list("shift", "method", "amount", "ref_id", "person")
    assert list(refunds) == [(shift.pk, "cash", -12_000, order.ref_id, me.pk)]
    payment = Payment.objects.get()
    assert (payment.outcome, payment.given_method, payment.given_by) == ("given", "cash", me)
    for news in (first, cashier.get(question)):
        assert "data-give-back" not in news.content.decode()
        assert words_at(news, "data-says") not in {"", before}


def test_a_person_who_may_not_refund_is_sent_to_a_supervisor(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    begin(me)
    order = end(sell(me, 12_000), "failed")
    address, row = f"/orders/{order.ref_id}/", words_at(cashier.get("/counter/"), "data-says")
    assert "data-ask-a-supervisor" not in cashier.get(address).content.decode()
    Group.objects.get(name="cashier").permissions.remove(Permission.objects.get(codename="give_back"))

    page = cashier.get(address).content.decode()

    assert "data-ask-a-supervisor" in page
    assert 'id="give-back"' not in page
    assert words_at(cashier.get("/counter/"), "data-says") not in {"", row}


def test_money_goes_back_by_one_key_only_in_cash_from_the_own_open_drawer(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    shift = begin(me)
    by_qris = end(sell(me, 12_000, payment=PaymentFacts(method="qris")), "failed")
    customer = give_credit("Bu Sri", cap=50_000)
    on_credit = end(sell_to(customer, 5_000, by=me, destination="081234567899"), "failed")
    others = end(sell(make_person("cashier", username="other"), 5_000, destination="081234567898"), "failed")

    page = cashier.get("/counter/").content.decode()

    for order in (by_qris, on_credit):
        assert f'data-give-back href="/orders/{order.ref_id}/#give-back"' in page
    codes_of = [
        codes(cashier.post(f"/counter/orders/{order.ref_id}/give-back/", headers={"HX-Request": "true"}))
        for order in (on_credit, others)
    ]
    assert codes_of[0] == {"CreditRefused:not_paid_yet"}
    assert "not_there" in codes(cashier.get("/counter/")), "the order of another person"
    close_shift(shift, pieces=pieces_of(200_000), actor=me)
    answer = cashier.post(f"/counter/orders/{by_qris.ref_id}/give-back/", headers={"HX-Request": "true"})
    assert codes(answer) == {"DrawerRefused:no_shift"}
    assert not DrawerEntry.objects.filter(kind="refund").exists()
    assert set(Payment.objects.values_list("outcome", flat=True)) <= {"owed", "nothing"}
    assert owed_by(customer) == 5_000


@pytest.mark.parametrize(
    ("role", "reason", "rise"),
    [
        ("cashier", ActionReason.UNAVAILABLE, 0),
        ("cashier", ActionReason.PRICE_CHANGED, 300),
        ("admin", ActionReason.NEVER_ARRIVED, 300),
    ],
)
def test_a_poll_asks_as_often_however_many_orders_need_action(role, reason, rise):
    Policies.objects.update_or_create(only=True, defaults={"seller_rise_limit": 500})
    forget()
    browser, asked = browser_of(role), []
    open_books(1_000_000)
    product = make_product(price=10_250, selling_price=12_000)
    facts = {"placed_by": User.objects.get(username=role), "product": product, "selling_price": 12_000}
    facts |= {"action_reason": reason, "max_price": product.price - rise}
    old, _delay = next_question(browser.get("/counter/"))

    for rows in (1, 12):
        for n in range(rows):
            make_order(Status.NEEDS_ACTION, destination=f"0812{rows:02d}8800{n:02d}", **facts)
        now, _delay = next_question(browser.get("/counter/"))
        asked.append([questions_of(browser, address) for address in (now, old)])  # without news, and with news

    assert [len(queries) for queries in asked[1]] == [len(queries) for queries in asked[0]], asked[1]
    assert len(asked[1][0]) <= 6, asked[1][0]


def questions_of(browser, address) -> list[str]:
    """What this request asks the database."""
    with CaptureQueriesContext(connection) as asked:
        browser.get(address)
    return [query["sql"] for query in asked.captured_queries]


def test_the_pills_show_the_own_drawer_and_the_balance_to_who_sees_costs(cashier):
    open_books(1_000_000)
    me = User.objects.get(username="cashier")
    assert has_id(cashier.get("/counter/"), "pill-drawer-closed")
    begin(me, cash=100_000)
    begin(make_person("supervisor"), cash=7_000)

    page = cashier.get("/counter/")
    assert attribute_at(page, "pill-drawer", "data-amount") == "100000"
    assert not has_id(page, "pill-balance")
    question, _delay = next_question(page)
    assert not has_id(cashier.get(question), "pill-drawer")
    pay_in(open_shift_of(me.pk), amount=5_000, reason="Coins", actor=me)
    assert attribute_at(cashier.get(question), "pill-drawer", "data-amount") == "105000"

    page = browser_of("admin").get("/counter/")
    assert attribute_at(page, "pill-balance", "data-amount") == "1000000"
    assert has_id(page, "pill-drawer-closed")


def attribute_at(page, name, attribute) -> str:
    return re.search(rf'id="{name}"[^>]*{attribute}="([^"]*)"', page.content.decode())[1]


def test_what_waits_for_a_second_person_stands_in_the_strip_until_its_end(telkomsel):
    asker = make_person("cashier", username="asker", own_approval_above=10_000)
    waiting, refused = ask_purchase(asker, NUMBER), ask_purchase(asker, "081234567891")
    browser = signed_in(asker)
    page = browser.get("/counter/")
    assert states_asked(page) == ["asked", "asked"]
    assert f"expires {short_time(waiting.expires_at)}" in words_at(page, 'id="strip-asked"'), "it waits until tomorrow"
    assert 'data-approval="asked"' not in browser_of("supervisor").get("/counter/").content.decode()
    number = re.search(r'<span class="run-number">(.*?)</span>', page.content.decode())[1]
    assert number == "0812 3456 7891", "as the orders below write it"
    assert words_at(page, 'class="run-what"') == refused.facts["product_name"]
    question, _delay = next_question(page)
    assert 'id="strip-asked"' not in browser.get(question).content.decode()

    approvals.refuse(refused, actor=make_person("supervisor", username="boss"), reason="Not for this customer")

    news = browser.get(question)
    assert states_asked(news) == ["refused", "asked"]
    assert "Not for this customer" in words_at(news, 'id="strip-asked"')
    approvals.withdraw(waiting, actor=asker)
    assert states_asked(browser.get("/counter/")) == ["refused"]


def test_a_request_that_a_new_price_made_void_says_so_while_the_customer_is_still_there():
    asker = make_person("cashier", username="asker", own_approval_above=10_000)
    approval = ask_purchase(asker, NUMBER)
    browser = signed_in(asker)
    question, _delay = next_question(browser.get("/counter/"))

    Product.objects.filter(code=approval.facts["product_code"]).update(price=12_345)

    news = browser.get(question)
    assert states_asked(news) == ["void"]
    assert "Nothing was charged." in words_at(news, 'id="strip-asked"')
    assert "It has changed since it was asked for." in words_at(news, 'id="strip-asked"')


def states_asked(page) -> list[str]:
    return re.findall(r'data-approval="(\w+)"', page.content.decode())
