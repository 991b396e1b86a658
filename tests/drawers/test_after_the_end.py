"""Once an order has ended without success: how it was paid stays, and a note alone leaves no debt behind."""

import pytest

from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Refund
from drawers.services import expected_cash, give_back, note_payment, sweep_sales
from purchases.models import GivenBack
from staff.models import User
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin, end, sell
from tests.people import browser_of

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
    sweep_sales()
    end(order, "failed")
    give_back(order, shift=shift, method="cash", actor=shift.cashier)

    page = browser.get(order.get_absolute_url()).content.decode()
    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"}, follow=True)

    assert 'id="change-payment"' not in page
    assert codes(answer) == ["DrawerRefused:given_back"]
    assert expected_cash(shift) == 100_000
    entries = DrawerEntry.objects.filter(ref_id=order.ref_id).order_by("pk")
    assert list(entries.values_list("kind", "method", "amount")) == [
        ("sale", "cash", 20_000),
        ("refund", "cash", -20_000),
    ]


def test_a_sale_taken_off_an_account_does_not_become_cash(counter):
    browser, shift = counter
    customer = give_credit()
    order = sell_to(customer, 10_000, by=shift.cashier)
    sweep_sales()
    end(order, "failed")
    give_back(order, shift=shift, method="credit", actor=shift.cashier)

    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "cash"}, follow=True)

    assert codes(answer) == ["DrawerRefused:given_back"]
    assert (owed_by(customer), expected_cash(shift)) == (0, 100_000)


@pytest.mark.parametrize("status", ["failed", "rejected", "cancelled", "closed", "reversed"])
def test_how_a_failed_order_was_paid_stays_while_it_is_owed(counter, status):
    browser, shift = counter
    order = sell(shift.cashier, 20_000)
    sweep_sales()
    end(order, status)

    answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"}, follow=True)

    assert codes(answer) == ["DrawerRefused:ended"]
    assert expected_cash(shift) == 120_000


def test_what_was_chosen_in_the_review_counts_for_an_order_that_failed_at_once(counter):
    _browser, shift = counter
    order = end(sell(shift.cashier, 20_000), "failed")

    note_payment(order, method="qris", actor=shift.cashier, while_placing=True)
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "ended"):
        note_payment(order, method="cash", actor=shift.cashier)

    assert (expected_cash(shift), DrawerEntry.objects.current().get(kind="sale").method) == (100_000, "qris")


def test_a_note_on_the_order_leaves_no_debt_behind(counter):
    browser, shift = counter
    customer = give_credit()
    order = end(sell_to(customer, 10_000, by=shift.cashier), "reversed")

    answer = browser.post(f"/orders/{order.ref_id}/given-back/", {"note": "The debt is cancelled"}, follow=True)
    assert codes(answer) == ["CreditRefused:still_owed"]
    assert (GivenBack.objects.count(), owed_by(customer)) == (0, 10_000)
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit", "shift": shift.pk})

    assert (GivenBack.objects.get().order, owed_by(customer)) == (order, 0)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 10_000),
        ("refund", -10_000),
    ]
    assert (Refund.objects.get().method, expected_cash(shift)) == ("credit", 100_000)
