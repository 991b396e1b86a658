"""A form that is sent twice moves the money once: payments of a debt, cash in and out, debts from a notebook."""

import re
import uuid
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction

from credit.models import CreditEntry
from drawers.models import DrawerEntry
from drawers.services import close_shift, expected_cash
from testing.orders import at_once
from testing.people import browser_of
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import message_codes, pieces_of, send_as, token_on

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_payment_that_is_sent_twice_is_taken_once(counter):
    browser, shift = counter
    customer = give_credit()
    sell_to(customer, 50_000, by=shift.cashier)
    account, paid = f"/customers/{customer.pk}/credit/", f"/customers/{customer.pk}/credit/paid/"
    token = token_on(browser, account, 'id="credit-payment"')
    assert token != token_on(browser, account, 'id="credit-payment"')
    fields = {"amount": "20.000", "method": "cash", "token": token}

    assert at_once(*[partial(send_as, shift.cashier, paid, fields)] * 2) == [302, 302]
    again = browser.post(paid, fields, follow=True)
    other = browser.post(paid, {**fields, "amount": "10.000"}, follow=True)

    assert (message_codes(again), message_codes(other)) == (["credit_paid"], ["CreditRefused:form_used"])
    assert (owed_by(customer), expected_cash(shift)) == (30_000, 120_000)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 50_000),
        ("payment", -20_000),
    ]
    assert list(DrawerEntry.objects.filter(kind="credit").values_list("amount", flat=True)) == [20_000]
    browser.post(paid, {**fields, "token": token_on(browser, account, 'id="credit-payment"')})
    assert (owed_by(customer), expected_cash(shift)) == (10_000, 140_000)


def test_the_form_of_an_undone_payment_takes_no_other(counter):
    browser, shift = counter
    customer = give_credit()
    sell_to(customer, 50_000, by=shift.cashier)
    paid = f"/customers/{customer.pk}/credit/paid/"
    fields = {"amount": "20.000", "method": "cash", "token": str(uuid.uuid4())}
    browser.post(paid, fields)
    browser.post(f"/credit/payments/{CreditEntry.objects.get(kind='payment').pk}/undo/", {"reason": "typed wrongly"})

    assert message_codes(browser.post(paid, fields, follow=True))[-1] == "CreditRefused:form_used"
    assert (owed_by(customer), expected_cash(shift)) == (50_000, 100_000)


def test_a_small_amount_is_booked_only_after_the_question(counter):
    browser, shift = counter
    customer = give_credit()
    sell_to(customer, 50_000, by=shift.cashier)
    owed, cash = 50_000, 100_000
    for form, is_paid, comes in (("credit", 10, 10), ("in", 0, 10), ("out", 0, -10)):
        address = f"/customers/{customer.pk}/credit/paid/" if form == "credit" else "/drawer/paid/"
        fields = {"way": form, "method": "cash", "amount": "10", "reason": "coins", "token": str(uuid.uuid4())}

        asked = [browser.post(address, fields), browser.post(address, fields | {"amount": "11", "asked_about": "10"})]

        assert ["Rp10.000" in asked[0].content.decode(), "Rp11.000" in asked[1].content.decode()] == [True, True], form
        assert 'name="asked_about" value="10"' in asked[0].content.decode(), form
        assert (owed_by(customer), expected_cash(shift)) == (owed, cash), form

        browser.post(address, fields | {"asked_about": "10"})

        owed, cash = owed - is_paid, cash + comes
        assert (owed_by(customer), expected_cash(shift)) == (owed, cash), form


def test_what_is_paid_in_or_out_twice_moves_once(counter):
    browser, shift = counter
    for number, (way, expected) in enumerate((("in", 120_000), ("out", 100_000)), 1):
        token = token_on(browser, "/drawer/", 'id="paid-form"')
        fields = {"way": way, "amount": "20.000", "reason": "safe", "token": token}

        assert at_once(*[partial(send_as, shift.cashier, "/drawer/paid/", fields)] * 2) == [302, 302], way
        again = browser.post("/drawer/paid/", fields, follow=True)
        other = browser.post("/drawer/paid/", {**fields, "reason": "petrol"}, follow=True)

        assert (message_codes(again), message_codes(other)) == (["paid"], ["DrawerRefused:form_used"]), way
        assert (expected_cash(shift), shift.entries.exclude(kind="opening").count()) == (expected, number), way
    assert close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier).difference == 0


def test_what_was_owed_before_is_entered_once():
    browser, customer = browser_of("administrator"), give_credit()
    path = f"/customers/{customer.pk}/credit/brought/"
    token = token_on(browser, f"/customers/{customer.pk}/credit/", path)
    fields = {"amount": "20.000", "reason": "Book", "token": token}

    for _ in range(2):
        assert message_codes(browser.confirm(path, fields, follow=True)) == ["brought_forward"]

    assert (owed_by(customer), CreditEntry.objects.count()) == (20_000, 1)


def test_without_its_number_nothing_is_entered_and_the_page_has_one(counter):
    browser, shift = counter
    answer = browser.post("/drawer/paid/", {"way": "out", "amount": "20.000", "reason": "safe", "token": "x"})

    assert re.search(r'name="token" value="[0-9a-f-]{36}"', answer.content.decode())
    assert 'class="field-error"' in answer.content.decode()
    assert expected_cash(shift) == 100_000


def test_the_database_itself_takes_a_form_once(counter):
    browser, shift = counter
    customer, token = give_credit(), str(uuid.uuid4())
    sell_to(customer, 50_000, by=shift.cashier)
    browser.post("/drawer/paid/", {"way": "in", "amount": "1.000", "reason": "x", "token": token})
    browser.post(f"/customers/{customer.pk}/credit/paid/", {"amount": "1.000", "method": "qris", "token": token})

    for table, copied in {
        "drawers_drawerentry": "shift_id, kind, method, is_cash, amount, ref_id, reason, person_id, at, token",
        "credit_creditentry": "account_id, kind, method, amount, balance_after, ref_id, reason, person_id, at, token",
    }.items():
        values = copied.replace("balance_after", "balance_after - 1000")
        statement = f"INSERT INTO {table} ({copied}) SELECT {values} FROM {table} WHERE token = %s"  # noqa: S608
        with pytest.raises(DatabaseError, match="once_a_form"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, [token])
