"""A worker that waits for a batch while a person releases it sells its rows for that person, to that customer."""

from functools import partial

import pytest
from django.db import transaction

from batches.services import placing, release, seal_of
from batches.states import BatchState
from drawers.services import PaymentFacts, expected_cash
from purchases.models import Order
from testing.orders import Meanwhile
from tests.batches.helpers import CASH, checked, rows_of, supervisor
from tests.conftest import Upstream
from tests.credit.helpers import give_credit, owed_by
from tests.drawers.helpers import begin

pytestmark = pytest.mark.django_db(transaction=True)

ONE = "081290000001;10;Sari\n"


def release_while_a_worker_waits(batch, payment):
    """Release the batch; the worker that came just before places its row."""
    worker = partial(placing._place_row, batch.pk, rows_of(batch)[0].pk, is_sent=False)
    with transaction.atomic():
        release(batch, actor=supervisor(), seal=seal_of(batch), payment=payment)
        placed = Meanwhile(worker)
        assert placed.is_blocked_by_us()
    placed.end()
    batch.refresh_from_db()


def test_the_row_is_the_releasers_sale_in_cash(upstream: Upstream):
    shift = begin(supervisor(), cash=100_000)
    batch = checked(ONE)

    release_while_a_worker_waits(batch, CASH)

    order = Order.objects.get()
    assert (batch.state, order.placed_by, order.payment.seller) == (BatchState.RUNNING, shift.cashier, shift.cashier)
    assert (order.payment.sold_in, expected_cash(shift)) == (shift, 100_000 + order.payment.amount)


def test_the_row_on_credit_is_owed_by_its_customer(upstream: Upstream):
    customer, batch = give_credit(), checked(ONE)

    release_while_a_worker_waits(batch, PaymentFacts(method="credit", customer=customer))

    order = Order.objects.get()
    assert (batch.state, order.placed_by, order.payment.method) == (BatchState.RUNNING, supervisor(), "credit")
    assert owed_by(customer) == order.payment.amount
