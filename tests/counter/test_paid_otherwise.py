"""A form is sent again after a lost answer, with another way to pay: the first way counts, and the page says so."""

import pytest

from drawers.services import change_payment, expected_cash
from purchases.models import Order
from staff.models import User
from testing.factories import make_check, make_product
from testing.orders import confirm, review
from tests.core.helpers import codes, hidden
from tests.credit.helpers import give_credit, owed_by
from tests.drawers.helpers import begin, end
from tests.gateway.helpers import read_balance

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]

CARD = {"paid_by": "card", "paid_reference": "004217"}


@pytest.fixture
def shift(cashier):
    read_balance(1_000_000)
    return begin(User.objects.get(username="cashier"), cash=100_000)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_sale_in_cash_that_is_sent_again_by_card_says_that_it_is_in_cash(cashier, shift, headers):
    product = make_product(price=10_000)
    fields = hidden(review(cashier, product)) | {"product": product.code, "confirm": "1"}
    first = cashier.post("/counter/send/", {**fields, "paid_by": "cash"}, headers=headers, follow=True)

    again = cashier.post("/counter/send/", {**fields, **CARD}, headers=headers, follow=True)

    order = Order.objects.get()
    assert ["paid_otherwise" in codes(answer) for answer in (first, again)] == [False, True]
    assert f"{order.ref_id} was placed before, paid by: Cash" in again.content.decode()
    assert (order.payment.method, expected_cash(shift)) == ("cash", 110_000)


def test_a_failed_sale_that_is_sent_again_without_its_slip_stays_one_order(cashier, shift):
    # given a sale in cash whose answer is lost, and which fails
    product = make_product(price=10_000)
    fields = hidden(review(cashier, product))
    confirm(cashier, product, {**fields, "paid_by": "cash"})
    end(Order.objects.get(), "failed")

    # when the same form is sent again: by card, first without the number on the slip
    refused = confirm(cashier, product, {**fields, "paid_by": "card"})
    confirm(cashier, product, {**hidden(refused), **CARD})

    # then there is no second order for the one payment
    assert "PaymentUnclear" in codes(refused)
    assert Order.objects.get().payment.method == "cash"


def test_a_sale_on_credit_that_is_sent_again_in_cash_says_that_it_is_owed(cashier, shift):
    product, customer = make_product(price=10_000), give_credit()
    fields = hidden(review(cashier, product))
    confirm(cashier, product, {**fields, "paid_by": "credit", "paid_by_customer": customer.name})

    confirm(cashier, product, {**fields, "paid_by": "cash", "cash_given": "20.000"})

    assert "paid_otherwise" in codes(cashier.get("/counter/"))
    assert (Order.objects.get().payment.method, owed_by(customer), expected_cash(shift)) == ("credit", 10_000, 100_000)


def test_the_same_way_again_says_nothing_also_once_it_is_noted_on_the_orders_page(cashier, shift):
    product = make_product(price=10_000)
    fields = hidden(review(cashier, product))
    confirm(cashier, product, {**fields, "paid_by": "cash"})
    change_payment(Order.objects.get().payment, method="card", reference="004217", actor=shift.cashier)

    confirm(cashier, product, {**fields, **CARD})

    assert "paid_otherwise" not in codes(cashier.get("/counter/"))
    assert (Order.objects.count(), expected_cash(shift)) == (1, 100_000)


def test_a_bill_that_is_paid_again_by_card_says_that_it_is_in_cash(cashier, shift):
    check = make_check()
    address, fields = f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total}
    cashier.post(address, {**fields, "paid_by": "cash"})

    cashier.post(address, {**fields, **CARD})

    assert "paid_otherwise" in codes(cashier.get("/counter/"))
    assert (Order.objects.get().payment.method, expected_cash(shift)) == ("cash", 202_500)


def test_bills_that_are_paid_together_again_by_card_say_that_they_are_in_cash(cashier, shift):
    batch = "6c6f0c3e-36a4-4a5a-9d0c-0d6d5b1b7c11"
    checks = [make_check(batch=batch) for _ in range(2)]
    address = f"/counter/batch/{batch}/pay/"
    fields = {"bill": [f"{check.ref_id}:{check.total}" for check in checks]}
    cashier.post(address, {**fields, "paid_by": "cash"})

    page = cashier.post(address, {**fields, **CARD}, follow=True)

    assert codes(page) >= {"payments_placed_before", "paid_otherwise"}
    assert page.content.decode().count('data-code="paid_otherwise"') == 2
    assert {order.payment.method for order in Order.objects.all()} == {"cash"}
    assert expected_cash(shift) == 305_000
