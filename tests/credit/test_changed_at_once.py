"""A sale is changed by two people at once, or ends meanwhile: the second step begins with the result of the first."""

from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from drawers.models import Payment
from drawers.services import (
    Ending,
    change_payment,
    end_payments,
    expected_cash,
    follow_price,
    give_back,
    merge_customers,
)
from drawers.services.payments import lock_payment
from purchases.models import Order
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


def test_given_a_correction_then_two_orders_that_end_wait_without_the_shift():
    shift = begin(cash=100_000)
    first, second = sell(shift.cashier, 10_000), sell(shift.cashier, 20_000)

    with transaction.atomic():
        lock_payment(second.payment_id)
        ending = Meanwhile(partial(end_both, second, first))
        assert ending.is_blocked_by_us()
        change_payment(second.payment, method="qris", actor=shift.cashier)
    ending.end()

    payments = Payment.objects.order_by("pk").values_list("method", "amount", "outcome", "cost", "ended_in")
    assert list(payments) == [("cash", 10_000, "kept", 9_000, shift.pk), ("qris", 20_000, "kept", 9_000, shift.pk)]
    assert expected_cash(shift) == 110_000


def test_payments_end_in_the_order_of_their_keys():
    shift = begin(cash=100_000)
    first, second = sell(shift.cashier, 10_000), sell(shift.cashier, 20_000)

    with transaction.atomic():
        lock_payment(first.payment_id)
        ending = Meanwhile(partial(end_both, second, first))
        assert ending.is_blocked_by_us()
        lock_payment(second.payment_id)
    ending.end()

    assert list(Payment.objects.values_list("outcome", flat=True)) == ["kept", "kept"]


def end_both(*orders: Order) -> None:
    """End the payments of these successful orders in this order, each at a cost of Rp9.000."""
    with transaction.atomic():
        end_payments([Ending(order.payment_id, timezone.now(), 9_000) for order in orders])
