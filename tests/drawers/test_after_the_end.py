"""Once an order has ended without success: how it was paid stays, and a note alone leaves no debt behind."""

import pytest

from credit.models import CreditEntry
from drawers.models import DrawerEntry, Payment
from drawers.services import expected_cash, give_back
from staff.models import User
from testing.people import browser_of
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin, end, sell

pytestmark = pytest.mark.django_db(transaction=True)


def codes(answer):
    """The refusals that the page shows."""
    return [message.extra_tags for message in answer.context["messages"]]


@pytest.fixture
def counter():
    """A cashier's browser and open shift with Rp100.000."""
    browser = browser_of("cashier")
    return browser, begin(User.objects.get(username="cashier"), cash=100_000)


def test_how_it_was_paid_stays_once_the_money_went_back(counter):
    browser, shift = counter
    order = sell(shift.cashier, 20_000)
    end(order, "failed")
    give_back(order.payment, shift=shift, method="cash", actor=shift.cashier)

    page = browser.get(order.get_absolute_url()).content.decode()
    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"}, follow=True)

    assert 'id="change-payment"' not in page
    assert codes(answer) == ["DrawerRefused:given_back"]
    assert expected_cash(shift) == 100_000
    payment = Payment.objects.get()
    assert (payment.method, payment.amount, payment.outcome) == ("cash", 20_000, "given")
    assert list(DrawerEntry.objects.filter(kind="refund").values_list("method", "amount")) == [("cash", -20_000)]


def test_a_sale_taken_off_an_account_does_not_become_cash(counter):
    browser, shift = counter
    customer = give_credit()
    order = sell_to(customer, 10_000, by=shift.cashier)
    end(order, "failed")
    give_back(order.payment, shift=shift, method="credit", actor=shift.cashier)

    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "cash"}, follow=True)

    assert codes(answer) == ["DrawerRefused:given_back"]
    assert (owed_by(customer), expected_cash(shift)) == (0, 100_000)


@pytest.mark.parametrize("status", ["failed", "rejected", "cancelled", "closed", "reversed"])
def test_how_a_failed_order_was_paid_stays_while_it_is_owed(counter, status):
    browser, shift = counter
    order = sell(shift.cashier, 20_000)
    end(order, status)

    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"}, follow=True)

    assert codes(answer) == ["DrawerRefused:ended"]
    assert expected_cash(shift) == 120_000


def test_a_note_on_the_order_leaves_no_debt_behind(counter):
    browser, shift = counter
    customer = give_credit()
    order = end(sell_to(customer, 10_000, by=shift.cashier), "reversed")

    answer = browser.post(f"/orders/{order.ref_id}/given-back/", {"note": "The debt is cancelled"}, follow=True)
    assert codes(answer) == ["CreditRefused:still_owed"]
    assert (Payment.objects.get().outcome, owed_by(customer)) == ("owed", 10_000)
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit", "shift": shift.pk})

    assert (Payment.objects.get().outcome, owed_by(customer)) == ("given", 0)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 10_000),
        ("refund", -10_000),
    ]
    assert (Payment.objects.get().given_method, expected_cash(shift)) == ("credit", 100_000)
