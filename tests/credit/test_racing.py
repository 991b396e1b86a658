"""Two people sell or change payments at the same moment: an order is paid in one way, and neither blocks the other."""

import threading
import uuid
from functools import partial

import pytest

from credit.errors import CreditRefused
from credit.models import CreditEntry
from drawers.models import Payment
from drawers.services import PaymentFacts, change_payment, expected_cash
from purchases.models import Order
from purchases.services import placing
from testing.factories import make_product
from testing.orders import at_once, place
from testing.people import make_person
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import begin

pytestmark = pytest.mark.django_db(transaction=True)

TO = {"destination": "081234567890"}


def credited(customer, make):
    return make(payment=PaymentFacts(method="credit", customer=customer))


def meet_after_the_look(monkeypatch, both):
    """Let both look for an order with their key before either has stored one."""
    look = placing._look

    def look_and_wait(product, destination, key=None):
        seen = look(product, destination, key)
        if not both.broken and both.n_waiting < 2 and not seen:
            both.wait()
        return seen

    monkeypatch.setattr(placing, "_look", look_and_wait)


def test_one_review_sent_in_cash_and_on_credit_is_paid_once(monkeypatch):
    shift, customer, key = begin(cash=100_000), give_credit(), str(uuid.uuid4())
    make = partial(place, make_product(price=10_000), placed_by=shift.cashier, idempotency_key=key, **TO)
    looked = threading.Barrier(2, timeout=10)
    meet_after_the_look(monkeypatch, looked)
    in_cash = partial(make, payment=PaymentFacts(cash_given=20_000))

    results = at_once(partial(credited, customer, make), in_cash)

    refused = [result for result in results if isinstance(result, CreditRefused)]
    if not refused:  # credit was faster: the same form again is that order
        assert (Order.objects.count(), owed_by(customer), expected_cash(shift)) == (1, 10_000, 100_000)
        return
    (refusal,), order = refused, results[1]

    assert (type(refusal), refusal.reason) == (CreditRefused, "placed_before")
    assert (Order.objects.get().pk, owed_by(customer), expected_cash(shift)) == (order.pk, 0, 110_000)
    sale = Payment.objects.get()
    assert (sale.method, sale.amount, sale.cash_given, CreditEntry.objects.count()) == ("cash", 10_000, 20_000, 0)


def test_one_review_sent_for_two_customers_is_owed_by_one(monkeypatch):
    seller, first, second = make_person("cashier"), give_credit(), give_credit("Pak Budi")
    key = str(uuid.uuid4())
    make = partial(place, make_product(price=10_000), placed_by=seller, idempotency_key=key, **TO)
    meet_after_the_look(monkeypatch, threading.Barrier(2, timeout=10))

    results = at_once(partial(credited, first, make), partial(credited, second, make))

    (refusal,) = [result for result in results if isinstance(result, CreditRefused)]
    loser, winner = (first, second) if results[0] is refusal else (second, first)
    with pytest.raises(CreditRefused, check=lambda again: again.reason == "on_credit"):
        credited(loser, make)
    assert refusal.reason == "on_credit"
    assert (owed_by(loser), owed_by(winner), Order.objects.count()) == (0, 10_000, 1)


def test_two_orders_that_swap_their_customers_wait_for_each_other():
    first_shift, second_shift = begin(make_person("cashier")), begin(make_person("cashier", username="other"))
    first, second = give_credit(), give_credit("Pak Budi")
    mine, theirs = sell_to(first, 10_000, by=first_shift.cashier), sell_to(second, 7_000, by=second_shift.cashier)
    both = [(mine, first_shift.cashier), (theirs, second_shift.cashier)]

    for to in ((second, first), (first, second)) * 4:
        results = at_once(
            *(
                partial(change_payment, order.payment, method="credit", customer=customer, actor=seller)
                for (order, seller), customer in zip(both, to, strict=True)
            )
        )
        assert [result.method for result in results] == ["credit", "credit"]

    assert (owed_by(first), owed_by(second)) == (10_000, 7_000)
