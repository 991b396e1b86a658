"""Two who sell or note at the same moment: one order is paid in one way, and neither blocks the other."""

import threading
import uuid
from functools import partial

import pytest

from credit.errors import CreditRefused
from credit.models import CreditEntry
from credit.services import sell_on_credit
from drawers.models import DrawerEntry
from drawers.services import expected_cash, note_payment, sweep_sales
from purchases.models import Order
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin
from tests.factories import make_product
from tests.people import make_person
from tests.purchases.helpers import at_once, place

pytestmark = pytest.mark.django_db(transaction=True)

TO = {"destination": "081234567890"}


def credited(customer, key, seller, make):
    return sell_on_credit(customer, amount=10_000, key=key, place=make, actor=seller)


def test_one_review_sent_in_cash_and_on_credit_is_paid_once():
    shift, customer, key = begin(cash=100_000), give_credit(), str(uuid.uuid4())
    make = partial(place, make_product(price=10_000), placed_by=shift.cashier, idempotency_key=key, **TO)
    is_placing, is_sold = threading.Event(), threading.Event()

    def late():
        is_placing.set()
        assert is_sold.wait(10)
        return make()

    def in_cash():
        assert is_placing.wait(10)
        order = make()
        note_payment(order, method="cash", cash_given=20_000, actor=shift.cashier)
        is_sold.set()
        return order

    refusal, order = at_once(partial(credited, customer, key, shift.cashier, late), in_cash)

    sweep_sales()
    assert (type(refusal), refusal.reason) == (CreditRefused, "placed_before")
    assert (Order.objects.get().pk, owed_by(customer), expected_cash(shift)) == (order.pk, 0, 110_000)
    sale = DrawerEntry.objects.current().get(kind="sale")
    assert (sale.method, sale.amount, CreditEntry.objects.count()) == ("cash", 10_000, 0)


def test_one_review_sent_for_two_customers_is_owed_by_the_first():
    seller, first, second = make_person("cashier"), give_credit(), give_credit("Pak Budi")
    key = str(uuid.uuid4())
    make = partial(place, make_product(price=10_000), placed_by=seller, idempotency_key=key, **TO)
    is_placing, is_sold = threading.Event(), threading.Event()

    def late():
        is_placing.set()
        assert is_sold.wait(10)
        return make()

    def before():
        assert is_placing.wait(10)
        order = credited(second, key, seller, make)
        is_sold.set()
        return order

    refusal, order = at_once(partial(credited, first, key, seller, late), before)
    with pytest.raises(CreditRefused, check=lambda again: again.reason == "on_credit"):
        credited(first, key, seller, make)

    assert (type(refusal), refusal.reason) == (CreditRefused, "on_credit")
    assert (owed_by(first), owed_by(second), Order.objects.get().pk) == (0, 10_000, order.pk)


def test_two_orders_that_swap_their_customers_wait_for_each_other():
    one, two = begin(make_person("cashier")), begin(make_person("cashier", username="other"))
    first, second = give_credit(), give_credit("Pak Budi")
    mine, theirs = sell_to(first, 10_000, by=one.cashier), sell_to(second, 7_000, by=two.cashier)
    sweep_sales()
    both = [(mine, one.cashier), (theirs, two.cashier)]

    for to in ((second, first), (first, second)) * 4:
        results = at_once(
            *(
                partial(note_payment, order, method="credit", customer=customer, actor=seller)
                for (order, seller), customer in zip(both, to, strict=True)
            )
        )
        assert [result.method for result in results] == ["credit", "credit"]

    assert (owed_by(first), owed_by(second)) == (10_000, 7_000)
