"""The page of the bank says what the bank should show of each day, and what of it has arrived."""

import datetime as dt
import html
import re
from typing import Any

import pytest
from django.utils import timezone

from bank.days import BankDays, expected_days
from bank.models import BankRow
from drawers.services import take_credit_payment
from reconciliation.services import announce_top_up
from staff.models import User
from testing.database import past_triggers, statements, undone
from testing.orders import at_once
from testing.people import browser_of, make_person
from tests.bank.helpers import CONFIRMED, file_of, paid, today, upload
from tests.core.helpers import words
from tests.credit.helpers import account_of, give_credit, sell_to
from tests.drawers.helpers import end

pytestmark = pytest.mark.django_db


def test_the_first_line_says_what_the_bank_should_show_of_yesterday_and_today(sold):
    seller = User.objects.get(username="cashier")
    for amount, method in [(30_000, "transfer"), (20_000, "transfer"), (12_000, "qris")]:
        paid(seller, amount, method, days_ago=1)
    paid(seller, 99_000, "transfer", days_ago=2)
    announce_top_up(amount=1_000_000, actor=make_person("admin", username="buyer"))
    yesterday = timezone.localdate() - dt.timedelta(days=1)

    page = browser_of("administrator", language="en").get("/bank/")

    first, second, _seven_days = page.context["expected_days"]
    assert page.context["chosen"].name == "7"  # also on the first of a month these include yesterday
    assert (first.day, first.came, first.left) == (yesterday, 62_000, 0)
    assert [(way.method.code, way.amount) for way in first.ways] == [
        ("transfer", 50_000),
        ("qris", 12_000),
        ("card", 0),
    ]
    assert (second.came, second.left) == (50_000, 1_000_000)
    said = words(page)
    assert "Transfer Rp50.000" in said
    assert "QRIS Rp12.000" in said


@pytest.mark.django_db(transaction=True)
def test_given_a_sale_while_the_page_is_read_then_its_sums_are_of_one_moment(sold, monkeypatch):
    browser, seller = browser_of("administrator"), User.objects.get(username="cashier")
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)

    def after_a_sale(*facts: Any) -> list[BankDays]:
        assert at_once(lambda: paid(seller, 30_000, "transfer"))[0]
        return expected_days(*facts)

    monkeypatch.setattr("bank.views.expected_days", after_a_sale)

    _yesterday, of_today, _seven_days = browser.get("/bank/").context["expected_days"]

    assert (of_today.came, of_today.missing, of_today.arrived) == (50_000, 0, 50_000)


def test_each_day_says_what_of_it_is_missing_and_what_no_statement_has_yet(sold):
    seller, browser = User.objects.get(username="cashier"), browser_of("administrator")
    for amount, method in [(30_000, "transfer"), (20_000, "transfer"), (12_000, "qris")]:
        paid(seller, amount, method, days_ago=1)
    yesterday = f"{timezone.localdate() - dt.timedelta(days=1):%d/%m/%Y}"

    def said(query: str = "") -> list[tuple[str, str]]:
        page = browser.get(f"/bank/{query}").content.decode()
        return re.findall(r'data-missing="(\d+)" data-beyond="(\d+)"', page)

    def arrived() -> list[str]:
        return re.findall(r'data-arrived="(\d+)"', browser.get("/bank/").content.decode())

    assert said() == []  # before a statement is read
    upload(browser, file_of(f"{yesterday};BUDI;30.000"), **CONFIRMED)
    assert said() == [("20000", "12000"), ("0", "50000"), ("20000", "62000")]
    assert arrived() == ["30000", "30000"]  # no statement has today yet, so the page says nothing about what came
    upload(browser, file_of(today("SARI", "20.000"), today("QR", "12.000")), **CONFIRMED)
    assert said() == [("0", "0"), ("50000", "0"), ("50000", "0")]
    assert arrived() == ["62000", "0", "62000"]
    older = timezone.localdate() - dt.timedelta(days=9)
    assert said(f"?since={older}&until={older}") == []  # for other days than the chosen ones it is not read


def test_the_chosen_days_say_what_the_bank_should_show_and_lead_to_their_orders(sold):
    seller = User.objects.get(username="cashier")
    for amount, method, days_ago in [(30_000, "transfer", 5), (20_000, "qris", 6), (70_000, "transfer", 9)]:
        paid(seller, amount, method, days_ago=days_ago)
    since, until = (timezone.localdate() - dt.timedelta(days=days) for days in (6, 5))
    browser = browser_of("administrator", language="en")

    page = browser.get(f"/bank/?since={since}&until={until}")

    *_others, chosen = page.context["expected_days"]
    assert len(_others) == 2
    assert [(way.method.code, way.amount) for way in chosen.ways] == [
        ("transfer", 30_000),
        ("qris", 20_000),
        ("card", 0),
    ]
    for way in chosen.ways:
        assert way.url == f"/orders/?since={since}&until={until}&payment={way.method.code}"
        assert f'href="{html.escape(way.url)}"' in page.content.decode()
    assert len(browser.get("/bank/?days=yesterday").context["expected_days"]) == 2


def test_a_day_says_what_came_unknown_and_leads_to_its_rows(sold):
    seller, browser = User.objects.get(username="cashier"), browser_of("administrator", language="en")
    paid(seller, 30_000, "transfer", days_ago=1)
    paid(seller, 5_500, "transfer", days_ago=1)
    yesterday = f"{timezone.localdate() - dt.timedelta(days=1):%d/%m/%Y}"
    upload(browser, file_of(f"{yesterday};BUDI;30.000", f"{yesterday};ANDI;77.000", f"{yesterday};ADM;-9"), **CONFIRMED)

    page = browser.get("/bank/")

    first, second, _seven_days = page.context["expected_days"]
    assert (first.arrived, first.came, first.missing, first.unknown) == (30_000, 35_500, 5_500, 77_000)
    assert (second.arrived, second.unknown) == (None, 0)
    for part, row in [("missing", "5500"), ("unknown", "77000")]:
        address = f"?days=yesterday&amp;show={part}#bank-part"
        assert f'href="{address}"' in page.content.decode()
        shown = browser.get(f"/bank/{html.unescape(address)}").content.decode()
        assert f'data-amount="{row}"' in shown.split('id="bank-part"')[1]
        assert re.search(r'days=yesterday&amp;show=\w+"\s+aria-current="page"', shown)
    assert "+Rp5.500" not in words(browser.get("/bank/?show=missing"))


def test_what_came_less_of_a_matched_payment_has_not_arrived(sold):
    # given: a payment that is matched by hand two days later, and a payment that came whole
    seller, browser = User.objects.get(username="cashier"), browser_of("administrator")
    sale = paid(seller, 50_000, "transfer", days_ago=2)
    paid(seller, 8_000, "transfer", days_ago=2)
    since = timezone.localdate() - dt.timedelta(days=2)

    def of_the_day() -> tuple[int, int, int]:
        *_others, chosen = browser.get(f"/bank/?since={since}&until={since}").context["expected_days"]
        return chosen.came, chosen.arrived, chosen.missing

    for came, arrived in ((3_000, 3_000), (70_000, 50_000)):
        with undone():
            upload(browser, file_of(f"{since:%d/%m/%Y};SARI;8.000", today("BUDI", f"{came}")), **CONFIRMED)
            decision = {"action": "match", "item": f"sale:{sale}", "reason": "he says so"}
            browser.post(f"/bank/rows/{BankRow.objects.get(text='BUDI').pk}/decide/", decision)

            assert of_the_day() == (58_000, 8_000 + arrived, 0)
            with past_triggers() as cursor:  # the match stays, also when the payment is not expected any more
                cursor.execute("UPDATE drawers_payment SET outcome = 'nothing' WHERE ref_id = %s", [sale])
            assert 0 <= of_the_day()[1] <= 8_000, came


def test_what_arrived_of_a_day_of_qris_is_less_the_fee(sold):
    seller, browser = User.objects.get(username="cashier"), browser_of("administrator", language="en")
    paid(seller, 100_000, "qris", days_ago=1)
    yesterday = f"{timezone.localdate() - dt.timedelta(days=1):%d/%m/%Y}"
    upload(browser, file_of(f"{yesterday};ADM;-9", today("QR", "99.300")), **CONFIRMED)

    page = browser.get("/bank/")

    first = page.context["expected_days"][0]
    assert (first.came, first.arrived, first.missing, first.beyond) == (100_000, 99_300, 0, 0)
    assert "arrived Rp99.300 of Rp100.000 All matched" in words(page)


def test_what_no_row_is_matched_with_is_read_once_for_sums_and_lines(sold):
    # given: one entry of each kind, and one in a statement
    seller = User.objects.get(username="cashier")
    paid(seller, 20_000, "qris", days_ago=1)
    debtor = give_credit()
    end(sell_to(debtor, 20_000, by=seller), "success")
    take_credit_payment(account_of(debtor), amount=15_000, method="transfer", actor=seller)
    announce_top_up(amount=300_000, actor=make_person("admin"))
    browser, older = browser_of("administrator"), timezone.localdate() - dt.timedelta(days=9)
    for part, days_ago in (("missing", 0), ("beyond", 4)):
        with undone():
            day = timezone.localdate() - dt.timedelta(days=days_ago)
            upload(browser, file_of(f"{day:%d/%m/%Y};ADM;-15.000"), **CONFIRMED)
            browser.get("/bank/")

            with statements() as asked:
                page = browser.get(f"/bank/?show={part}")

            assert 'id="to-beyond"' in page.content.decode(), part
            [(shown, lines)] = page.context["parts_shown"]
            assert len(lines) == shown.count > 2, part
            assert len(asked) <= 15, part
            with statements() as asked:
                browser.get(f"/bank/?since={older}&until={older}&show={part}")
            assert len(asked) <= 15, part
