"""Two people change a sale's way to pay at once: the second change begins with the result of the first."""

from functools import partial

import pytest
from django.db import transaction

from drawers.services import change_payment, expected_cash, follow_price, give_back, merge_customers
from testing.orders import Meanwhile
from testing.people import make_person
from tests.credit.helpers import give_credit, owed_by, refused, sell_to
from tests.drawers.helpers import begin, end, sell

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_debt_that_moves_to_another_customer_meanwhile_comes_off_there():
    shift, first, second = begin(cash=100_000), give_credit(), give_credit("Pak Budi")
    order = sell_to(first, 10_000, by=shift.cashier)

    with transaction.atomic():
        change_payment(order.payment, method="credit", customer=second, actor=shift.cashier)
        in_cash = Meanwhile(partial(change_payment, order.payment, method="cash", actor=shift.cashier))
        assert in_cash.is_blocked_by_us()
    in_cash.end()

    order.payment.refresh_from_db()
    assert (order.payment.method, order.payment.debt) == ("cash", None)
    assert (owed_by(first), owed_by(second), expected_cash(shift)) == (0, 0, 110_000)


def test_a_sale_in_cash_that_goes_on_credit_meanwhile_is_owed_once():
    shift, first, second = begin(cash=100_000), give_credit(), give_credit("Pak Budi")
    order = sell(shift.cashier, 10_000)

    with transaction.atomic():
        change_payment(order.payment, method="credit", customer=first, actor=shift.cashier)
        other = Meanwhile(partial(change_payment, order.payment, method="credit", customer=second, actor=shift.cashier))
        assert other.is_blocked_by_us()
    other.end()

    assert (owed_by(first), owed_by(second), expected_cash(shift)) == (0, 10_000, 100_000)


def test_a_price_that_rises_meanwhile_is_owed_by_the_new_customer():
    shift, first, second = begin(cash=100_000), give_credit(), give_credit("Pak Budi")
    order = sell_to(first, 10_000, by=shift.cashier)

    def rise():
        with transaction.atomic():
            follow_price(order.payment_id, 12_000, actor=shift.cashier)

    with transaction.atomic():
        change_payment(order.payment, method="credit", customer=second, actor=shift.cashier)
        risen = Meanwhile(rise)
        assert risen.is_blocked_by_us()
    risen.end()

    assert (owed_by(first), owed_by(second)) == (0, 12_000)


def test_a_refund_during_a_merge_comes_off_the_account_of_who_stays():
    shift, one, other = begin(cash=100_000), give_credit(), give_credit("Pak Budi")
    sell_to(one, 20_000, by=shift.cashier)
    order = end(sell_to(other, 10_000, by=shift.cashier), "failed")
    give = partial(give_back, order.payment, method="cash", shift=shift, actor=shift.cashier)

    with transaction.atomic():
        merge_customers(one, other, name="Bu Sri", note="", actor=make_person("administrator"))
        refund = Meanwhile(give)
        assert refund.is_blocked_by_us()
    with refused("not_paid_yet"):
        refund.end()

    assert (owed_by(one), expected_cash(shift)) == (30_000, 100_000)
