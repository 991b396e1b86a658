"""The way to pay is chosen where an order is confirmed: cash needs no choice, credit is part of placing it."""

import datetime as dt
import re
import uuid
from functools import partial

import pytest
import time_machine
from django.utils import timezone

from approvals.models import Approval
from credit import forms
from credit.models import CreditAccount, CreditEntry
from customers.models import Customer, SavedNumber
from drawers.models import Payment
from drawers.services import expected_cash
from drawers.templatetags import drawers
from purchases.models import Order
from staff.models import User
from testing.database import statements
from testing.factories import make_biller, make_check, make_product
from testing.orders import review
from testing.people import browser_of, signed_in
from tests.approvals.helpers import approve, approver
from tests.core.helpers import words
from tests.credit.helpers import give_credit, owed_by, send_sale
from tests.drawers.helpers import begin, end

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = "081234567890"


@pytest.fixture
def browser():
    return browser_of("cashier")


@pytest.fixture
def shift(browser):
    return begin(User.objects.get(username="cashier"), cash=100_000)


def confirm(browser, product, **more):
    return send_sale(browser, product, NUMBER, **more)


def chosen(page):
    """The method that the review has chosen."""
    return "".join(re.findall(r'value="(\w+)"[^>]*checked', page))


def paid():
    """The way in which each sale was paid."""
    return list(Payment.objects.order_by("pk").values_list("method", "amount", "cash_given"))


def test_the_review_offers_the_owner_of_the_number_first(browser, shift):
    give_credit("Aan")
    owner = give_credit("Bu Sri")
    SavedNumber.objects.create(customer=owner, destination=NUMBER, kind="phone")

    page = review(browser, make_product(), NUMBER).content.decode()

    assert re.findall(r'name="paid_by" value="(\w+)"', page) == ["cash", "credit", "qris", "transfer", "card"]
    assert re.search(r'name="paid_by_customer"[^>]*value="Bu Sri"', page)
    assert chosen(page) == "cash"
    assert "data-plain" in page


def test_the_review_says_what_the_owner_of_the_number_owes_with_this_sale_and_what_is_overdue(browser, shift):
    owner = give_credit("Bu Sri", cap=21_000)
    SavedNumber.objects.create(customer=owner, destination=NUMBER, kind="phone")
    confirm(browser, make_product(), paid_by="credit", paid_by_customer="Bu Sri")
    with time_machine.travel(timezone.now() + dt.timedelta(days=31), tick=True):
        late = review(signed_in(shift.cashier), make_product(), NUMBER).content.decode()
    pages = {}
    for cap in (21_000, 20_999):
        CreditAccount.objects.update(cap=cap)
        pages[cap] = review(browser, make_product(), NUMBER).content.decode()

    for cap, page in pages.items():
        attributes, said = re.search(r'<output class="pay-debt(.*?)>(.*?)</output>', page, re.DOTALL).groups()
        assert re.findall(r"Rp[\d.]+", said) == ["Rp10.500", "Rp21.000", f"Rp{cap:,}".replace(",", ".")]
        assert ("is-short" in attributes, "hidden" in attributes) == (cap == 20_999, False)
        assert f'<option value="Bu Sri" data-owed="10500" data-cap="{cap}">' in page
    for page, is_late in ((pages[21_000], False), (late, True)):
        said = re.search(r'class="pay-late" data-late( hidden)?>(.*?)</strong>', page)
        assert (said[1] is None, said[2].startswith("overdue since")) == (is_late, is_late)
        assert '<option value="Bu Sri" data-owed="10500" data-cap' in page
        assert (' data-late="' in page) == is_late


def test_a_typed_customer_behind_the_offered_names_is_known(browser, shift, monkeypatch):
    give_credit("Aan"), give_credit("Zul", cap=1)
    monkeypatch.setattr(forms, "_OFFERED", 1)
    drawers._paid_by_questions.cache_clear()

    page = confirm(browser, make_product(), paid_by="credit", paid_by_customer="zul").content.decode()
    drawers._paid_by_questions.cache_clear()

    field, debt = (re.search(rf'<\w+[^>]*id="{name}"[^>]*>', page)[0] for name in ("id_paid_by_customer", "pay-debt"))
    assert 'value="zul"' in field
    assert ("aria-invalid" in field, "hidden" in debt) == (False, False)


def test_cash_is_one_row_of_the_order(browser, shift):
    product, other = make_product(), make_product()
    confirm(browser, product)  # makes the rows that later sales find
    with statements() as sent:
        confirm(browser, other, paid_by="cash", cash_given="", paid_by_customer="Bu Sri")

    written = [statement for statement in sent if re.search('(INSERT INTO|UPDATE) "?(drawers|credit)_', statement)]
    assert len(written) == 1
    assert paid() == [("cash", 10_500, None)] * 2


def test_what_makes_no_sense_or_is_not_allowed_places_nothing(browser, shift):
    give_credit(cap=10_499)
    for fields, code in [
        ({"paid_by": "credit", "paid_by_customer": "Bu Sri"}, "OverCap"),
        ({"paid_by": "credit", "paid_by_customer": ""}, "CreditRefused:no_customer"),
        ({"paid_by": "credit", "paid_by_customer": "Nobody"}, "PaymentUnclear"),
        ({"paid_by": "cheque"}, "PaymentUnclear"),
        ({"paid_by": "card", "paid_reference": " "}, "PaymentUnclear"),
        ({"paid_by": "cash", "cash_given": "10.499"}, "PaymentUnclear"),
    ]:
        page = confirm(browser, make_product(), **fields).content.decode()

        assert f'data-code="{code}"' in page, fields
        assert chosen(page) == (fields["paid_by"] if fields["paid_by"] != "cheque" else ""), fields
        assert not Order.objects.exists(), fields


def test_a_name_that_two_customers_with_accounts_have_owes_nothing(browser, shift):
    older, owner = give_credit("Bu Sri"), give_credit("BU SRI")
    SavedNumber.objects.create(customer=owner, destination=NUMBER, kind="phone")

    page = confirm(browser, make_product(), paid_by="credit", paid_by_customer="BU SRI").content.decode()

    assert "Several customers" in page
    assert (Order.objects.count(), owed_by(older), owed_by(owner)) == (0, 0, 0)
    confirm(browser, make_product(), paid_by="cash", paid_by_customer="Bu Sri")
    order = Order.objects.get()
    change = {"method": "credit", "customer": "Bu Sri"}
    browser.post(f"/drawer/sales/{order.ref_id}/paid/", change)
    browser.post(f"/drawer/sales/{order.ref_id}/paid/", change | {"method": "qris"})
    assert (paid(), owed_by(older)) == ([("qris", 10_500, None)], 0)
    Customer.objects.filter(pk=older.pk).update(name="Bu Sri Pasar")
    confirm(browser, make_product(), paid_by="credit", paid_by_customer="BU SRI")
    assert (owed_by(older), owed_by(owner)) == (0, 10_500)


def test_a_part_of_a_name_names_who_is_meant_and_owes_nothing(browser, shift):
    customer = give_credit("Bu Sri Wahyuni")
    for other in ("Aan", "Pak Sri", "PAK SRI"):
        give_credit(other)

    page = confirm(browser, make_product(), paid_by="credit", paid_by_customer="sri").content.decode()

    assert 'data-code="PaymentUnclear"' in page
    assert re.findall('data-means="([^"]+)"', page) == ["Bu Sri Wahyuni"]
    assert re.search(r'name="paid_by_customer"[^>]*value="sri" aria-invalid="true"', page)
    assert not Order.objects.exists()
    assert owed_by(customer) == 0


def test_without_a_drawer_and_debtors_there_is_no_choice_and_it_is_paid_as_was_said(browser):
    assert 'id="paid-by"' not in review(browser, make_product(), NUMBER).content.decode()
    give_credit()

    answer = confirm(browser, make_product(), paid_by="qris", follow=True)

    assert answer.status_code == 302
    assert (paid(), Payment.objects.get().sold_in) == ([("qris", 10_500, None)], None)


def test_a_bill_is_paid_on_credit(browser, shift):
    customer, check = give_credit(cap=200_000), make_check()
    page = browser.get(f"/counter/bills/{check.ref_id}/").content.decode()
    assert 'id="paid-by"' in page

    for _ in range(2):  # however often it is pressed
        browser.post(
            f"/counter/bills/{check.ref_id}/pay/",
            {"amount": check.total, "fee": 0, "paid_by": "credit", "paid_by_customer": "Bu Sri"},
        )

    assert (Order.objects.count(), owed_by(customer)) == (1, check.total)
    assert paid() == [("credit", check.total, None)]


@pytest.fixture
def batch(browser, shift):
    """Three bills that were checked together, of Rp102.500 each: the address of the batch and its fields."""
    group = uuid.uuid4()
    checks = [make_check(batch=group, destination=f"1111{number}") for number in range(3)]
    fields = [f"{check.ref_id}:{check.total}:0" for check in checks]
    chosen = "&".join(f"bill={check.ref_id}" for check in checks)
    page = browser.get(f"/counter/batch/{group}/review/?{chosen}").content.decode()
    assert 'id="paid-by"' in page
    return f"/counter/batch/{group}/pay/", fields


def test_bills_together_offer_the_customer_whose_bills_they_are(browser, shift):
    # given: two of a household have saved the same meter, and the bills of the second are checked
    group, biller = uuid.uuid4(), make_biller()
    give = partial(SavedNumber.objects.create, destination="11110", kind="customer", product=biller)
    _first, second = (give(customer=give_credit(name)) for name in ("Aan", "Bu Sri"))
    check = make_check(batch=group, product=biller, destination="11110", saved_number=second)

    page = browser.get(f"/counter/batch/{group}/review/?bill={check.ref_id}").content.decode()

    assert re.search(r'name="paid_by_customer"[^>]*value="([^"]*)"', page)[1] == "Bu Sri"


def test_bills_together_are_paid_one_way(browser, batch):
    address, fields = batch
    browser.post(address, {"bill": fields[:1], "paid_by": "qris"})
    for _ in range(2):  # however often it is pressed
        browser.post(address, {"bill": fields, "paid_by": "cash", "cash_given": "250.000"})

    assert Order.objects.count() == 3
    assert paid() == [("qris", 102_500, None), ("cash", 102_500, 147_500), ("cash", 102_500, 102_500)]


def test_the_cap_is_checked_for_all_bills_together(browser, batch):
    address, fields = batch
    customer = give_credit()

    for cap, placed in ((307_499, 0), (307_500, 3)):
        CreditAccount.objects.update(cap=cap)
        for _ in range(2):
            answer = browser.post(address, {"bill": fields, "paid_by": "credit", "paid_by_customer": "Bu Sri"})

        assert (Order.objects.count(), owed_by(customer)) == (placed, placed * 102_500)
        assert paid() == [("credit", 102_500, None)] * placed
        assert ('data-code="OverCap"' in answer.content.decode()) == (not placed)


def test_bills_together_above_the_limit_wait_as_they_are_paid(browser, batch):
    address, fields = batch
    customer = give_credit(cap=400_000)
    User.objects.filter(username="cashier").update(own_approval_above=50_000)

    browser.post(address, {"bill": fields, "paid_by": "credit", "paid_by_customer": "Bu Sri"})
    waiting = list(Approval.objects.order_by("pk"))
    assert [approval.facts["payment"]["customer"] for approval in waiting] == [customer.pk] * 3
    approve(waiting[0], approver())

    assert (Order.objects.count(), owed_by(customer)) == (1, 102_500)


def test_what_is_on_an_account_is_never_called_paid(browser):
    give_credit("Bu Sri")
    for has_drawer in (False, True):
        if has_drawer:
            begin(User.objects.get(username="cashier"), cash=100_000)
        confirm(browser, make_product(price=10_000), paid_by="credit", paid_by_customer="Bu Sri")
        order = end(Order.objects.latest("pk"), "success")

        page = browser.get(f"/orders/{order.ref_id}/receipt/?paper=58").content.decode()
        text = page.split('id="message-text"')[1].split("</textarea>")[0]
        paper = page.split('<article class="struk')[1].split("</article>")[0]

        assert "Paid: " not in text, has_drawer
        assert "Paid by: On credit, " in text, has_drawer
        assert "On credit Bu Sri" in paper, has_drawer


def test_one_paper_for_several_bills_says_given_and_change(browser, batch):
    address, fields = batch
    browser.post(address, {"bill": fields, "paid_by": "cash", "cash_given": "350.000"})
    for order in Order.objects.all():
        end(order, "success")

    page = browser.get(address.replace("/pay/", "/receipt/").replace("counter", "bills")).content.decode()

    cash = re.search(r'id="struk-cash">(.*?)</dl>', page, re.DOTALL)[1]
    assert re.findall(r"Rp[\d.]+", cash) == ["Rp350.000", "Rp42.500"]


def test_a_card_payment_has_the_number_of_its_slip_and_a_transfer_may_have_one(browser, shift):
    numbers = {"paid_reference": "004217", "transfer_reference": "FT26330XYZ"}
    confirm(browser, make_product(), paid_by="transfer", **numbers)
    confirm(browser, make_product(), paid_by="transfer", transfer_reference="")
    confirm(browser, make_product(), paid_by="qris", **numbers)
    confirm(browser, make_product(), paid_by="card", **numbers)

    assert list(Payment.objects.order_by("pk").values_list("method", "reference", "sold_in")) == [
        ("transfer", "FT26330XYZ", shift.pk),
        ("transfer", "", shift.pk),
        ("qris", "", shift.pk),
        ("card", "004217", shift.pk),
    ]
    page = browser.get(f"/orders/{Payment.objects.latest('pk').ref_id}/").content.decode()
    assert re.search(r'id="sale-reference">004217<', page)


def test_a_sale_on_credit_names_the_debtor_where_it_was_sent_and_in_the_strip(browser, shift):
    customer = give_credit("Bu Sri", cap=15_000)

    answer = confirm(browser, make_product(), paid_by="credit", paid_by_customer="bu sri")
    assert (answer.status_code, owed_by(customer), paid()) == (302, 10_500, [("credit", 10_500, None)])
    assert CreditEntry.objects.get().ref_id == Order.objects.get().ref_id
    shown = browser.get("/counter/").content.decode()
    confirm(browser, make_product(), paid_by="qris")

    assert re.findall(r"data-debtor>([^<]+)<", shown) == ["On credit: Bu Sri"] * 2
    assert browser.get("/counter/").content.decode().count("data-debtor>") == 2


def test_a_price_that_no_coins_make_says_so_and_stays_exact(browser, shift):
    page = review(browser, make_product(price=10_550), NUMBER).content.decode()
    assert re.search(r'id="no-coin" data-amount="50"', page)
    assert "by one of these: QRIS, Transfer, Card (EDC)." in page.split('id="no-coin"')[1]
    assert 'data-coin="100"' in page, "the page's script rounds the change down to it"
    assert re.findall(r'data-gives="(\d+)"', page)[0] == "10600"
    changes = page.split('id="changes"')[1].split("</p>")[0]
    assert re.findall(r'data-note="(\d+)" data-amount="(\d+)"', changes)[:2] == [("20000", "9400"), ("50000", "39400")]
    assert 'id="no-coin"' not in review(browser, make_product(price=10_500), NUMBER).content.decode()
    page = review(browser, make_product(price=27_500), NUMBER).content.decode()
    gives = ["27500", "30000", "40000", "50000", "100000"]  # the next ten thousand after the exact cash
    assert re.findall(r'data-gives="(\d+)"', page) == gives

    confirm(browser, make_product(price=10_550), cash_given="10.600")

    assert paid() == [("cash", 10_550, 10_600)]
    assert expected_cash(shift) == 110_550


def test_only_the_change_for_which_there_are_coins_is_shown_and_the_receipt_says_the_rounding(browser, shift):
    confirm(browser, make_product(price=10_550), cash_given="20.000")

    assert paid() == [("cash", 10_550, 20_000)], "booked as it was given"
    shown = browser.get("/counter/").content.decode()
    assert re.findall(r'data-change="(\d+)"', shown) == ["9400"] * 2, "above the field and in the strip"
    order = end(Order.objects.get(), "success")

    page = browser.get(f"/orders/{order.ref_id}/receipt/").content.decode()

    facts = re.search(r'class="struk-total">(.*?id="struk-cash">.*?)</dl>', page, re.DOTALL)[1]
    assert re.findall(r"<dt>(.*?)</dt>\s*<dd[^>]*>(.*?)</dd>", facts) == [
        ("TOTAL", "Rp10.550"),
        ("Rounding", "Rp50"),
        ("Cash given", "Rp20.000"),
        ("Change", "Rp9.400"),
    ]
    assert "given Rp20.000, change Rp9.400 exactly Rp9.450" in words(browser.get(f"/orders/{order.ref_id}/"))
