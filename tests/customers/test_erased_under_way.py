"""An order in progress when its customer is erased goes on with its whole number, and is charged once."""

from customers.services import erase
from drawers.models import Outcome
from drawers.services import give_back
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from staff.models import User
from testing.people import make_person
from tests.conftest import Upstream
from tests.customers.helpers import make_customer
from tests.purchases.magic import place
from upstream.budget import CallClass


def erase_its_customer(order: Order, owner: User) -> None:
    customer = make_customer("Bu Sari", (order.destination, "phone"))
    erase(customer.pk, actor=owner)
    assert Order.objects.get(pk=order.pk).number_erased


def test_an_erased_order_ends_as_the_upstream_says(upstream: Upstream):
    owner, second = make_person("admin"), make_person("admin", username="second")
    for number, is_sent in ((1, False), (4, False), (6, True)):  # queued, will fail, sent without an answer
        order = place(number)
        if is_sent:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        erase_its_customer(order, owner)

        if not is_sent:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        order.refresh_from_db()
        order = follow(order, seconds=10)

        expected = {"failed": [("debit", -order.max_price), ("refund", order.max_price)]}
        assert order.status == (Status.FAILED if number == 4 else Status.SUCCESS), number
        assert upstream.ledger(order) == expected.get(order.status, [("debit", -order.max_price)])
        assert upstream.calls(order, "create") == ["/v1/transaction/create"], number
        assert order.incidents.count() == 0, number
        if order.status == Status.FAILED:
            payment = give_back(order.payment, method="transfer", actor=second)
            assert payment.outcome == Outcome.GIVEN
