"""An order in progress when its customer is erased goes on with its whole number, and is charged once."""

import pytest

from customers.services import erase
from drawers.models import Outcome
from drawers.services import give_back
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from testing.people import make_person
from tests.conftest import Upstream
from tests.customers.helpers import make_customer
from tests.purchases.magic import place
from upstream.budget import CallClass


def erase_its_customer(order: Order) -> None:
    customer = make_customer("Bu Sari", (order.destination, "phone"))
    erase(customer.pk, actor=make_person("admin"))
    assert Order.objects.filter(number_erased=True).count() == 1


@pytest.mark.parametrize(
    ("number", "is_sent"), [(1, False), (4, False), (6, True)], ids=["queued", "will fail", "sent, no answer"]
)
def test_an_erased_order_ends_as_the_upstream_says(upstream: Upstream, number: int, is_sent: bool):
    order = place(number)
    if is_sent:
        submit(order.pk, call_class=CallClass.INTERACTIVE)
    erase_its_customer(order)

    if not is_sent:
        submit(order.pk, call_class=CallClass.INTERACTIVE)
    order.refresh_from_db()
    order = follow(order, seconds=10)

    expected = {"failed": [("debit", -order.max_price), ("refund", order.max_price)]}
    assert order.status == (Status.FAILED if number == 4 else Status.SUCCESS)
    assert upstream.ledger(order) == expected.get(order.status, [("debit", -order.max_price)])
    assert upstream.calls(order, "create") == ["/v1/transaction/create"]
    assert order.incidents.count() == 0
    if order.status == Status.FAILED:
        payment = give_back(order.payment, method="transfer", actor=make_person("admin", username="second"))
        assert payment.outcome == Outcome.GIVEN
