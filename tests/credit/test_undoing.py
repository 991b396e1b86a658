"""Nobody can undo a payment of a debt after its money has gone back or was used."""

import pytest
from django.db import DatabaseError, connection, transaction

from credit.models import CreditAccount, CreditEntry
from credit.services import aged, undo_payment
from drawers.services import expected_cash, give_back, take_credit_payment
from staff.models import User
from testing.people import browser_of
from tests.credit.helpers import account_of, give_credit, owed_by, refused, sell_to
from tests.customers.helpers import erase
from tests.drawers.helpers import begin, end

pytestmark = pytest.mark.django_db(transaction=True)

UNDO = """
    INSERT INTO credit_creditentry
           (account_id, kind, method, amount, balance_after, ref_id, reason, person_id, at, undoes_id)
    SELECT account_id, kind, method, -amount, %s, '', 'x', person_id, now(), id FROM credit_creditentry WHERE id = %s
"""


def paid_in_cash(customer, amount, shift):
    return take_credit_payment(account_of(customer), amount=amount, method="cash", actor=shift.cashier)


def test_a_deleted_customers_payment_stays_and_nothing_is_owed():
    browser = browser_of("cashier")
    shift, customer = begin(User.objects.get(username="cashier"), cash=100_000), give_credit()
    sell_to(customer, 50_000, by=shift.cashier)
    payment = paid_in_cash(customer, 50_000, shift)
    erase(browser, customer)

    answer = browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "typed wrongly"})
    with refused("deleted"):
        undo_payment(payment, actor=shift.cashier, reason="typed wrongly")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(UNDO, [50_000, payment.pk])

    account = CreditAccount.objects.get()
    assert 'id="form-fault"' in answer.content.decode()
    assert (account.customer, account.balance, expected_cash(shift)) == (None, 0, 150_000)
    assert list(account.entries.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 50_000),
        ("payment", -50_000),
    ]


def test_a_payment_whose_money_went_back_since_stays():
    browser = browser_of("cashier")
    shift, customer = begin(User.objects.get(username="cashier"), cash=100_000), give_credit()
    failing, _other = sell_to(customer, 10_000, by=shift.cashier), sell_to(customer, 5_000, by=shift.cashier)
    payment = paid_in_cash(customer, 15_000, shift)
    end(failing, "failed")
    give_back(failing.payment, shift=shift, method="cash", actor=shift.cashier)

    page = browser.get(f"/customers/{customer.pk}/credit/").content.decode()
    answer = browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "typed wrongly"})
    with refused("paid_back_since"):
        undo_payment(payment, actor=shift.cashier, reason="typed wrongly")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(UNDO, [15_000, payment.pk])

    assert f"/credit/payments/{payment.pk}/undo/" not in page
    assert 'id="form-fault"' in answer.content.decode()
    assert (owed_by(customer), expected_cash(shift)) == (0, 105_000)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 10_000),
        ("sale", 5_000),
        ("payment", -15_000),
        ("refund", -10_000),
        ("paid_back", 10_000),
    ]


def test_a_payment_after_money_went_back_is_undone():
    browser = browser_of("cashier")
    shift, customer = begin(User.objects.get(username="cashier"), cash=100_000), give_credit()
    failing = sell_to(customer, 10_000, by=shift.cashier)
    paid_in_cash(customer, 10_000, shift)
    end(failing, "failed")
    give_back(failing.payment, shift=shift, method="cash", actor=shift.cashier)
    sell_to(customer, 7_000, by=shift.cashier)
    later = paid_in_cash(customer, 7_000, shift)

    page = browser.get(f"/customers/{customer.pk}/credit/").content.decode()
    browser.post(f"/credit/payments/{later.pk}/undo/", {"reason": "typed wrongly"})

    account = account_of(customer)
    assert f"/credit/payments/{later.pk}/undo/" in page
    assert (owed_by(customer), expected_cash(shift)) == (7_000, 100_000)
    assert aged([account.pk])[account.pk]["not_due"] == 7_000
