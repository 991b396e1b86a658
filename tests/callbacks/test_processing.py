"""What a stored callback does: settles the order when its body is signed, else only makes us ask."""

import pytest

from callbacks import services
from callbacks.models import Receipt
from purchases.errors import NotPossible
from purchases.models import Incident, Order
from purchases.order_life import Status
from staff.models import User
from tests.callbacks.test_endpoint import body_for
from tests.factories import make_order, moves

pytestmark = pytest.mark.django_db


def _receive(body: bytes, ref_id: str = "x", *, is_signed: bool = True, delivery: str = "d-1") -> Receipt:
    return services.receive(
        body=body,
        headers={"X-Delivery-Id": delivery},
        source_address="127.0.0.1",
        is_signed=is_signed,
        ref_id=ref_id,
        event="transaction.success",
    )


def _make_late(receipt: Receipt) -> None:
    """As if it had waited for a while (its time is read-only for the app, so it is inserted anew)."""
    from datetime import timedelta

    late = Receipt.objects.get(pk=receipt.pk)
    late.pk, late.delivery_id = None, receipt.delivery_id + "-late"
    late.received_at = receipt.received_at - timedelta(minutes=1)
    late.save(force_insert=True)


def test_a_signed_callback_settles_the_order_and_names_the_receipt():
    order = make_order(Status.PENDING)
    receipt = _receive(body_for(order, sn="SN-77"))

    receipt = services.process(receipt.pk)

    order.refresh_from_db()
    assert (order.status, order.sn) == ("success", "SN-77")
    assert order.events.get().receipt_id == receipt.pk
    assert (receipt.state, receipt.result) == ("applied", "pending → success")


def test_a_callback_before_the_answer_settles_the_order_that_is_being_sent():
    order = make_order(Status.SENDING)

    services.process(_receive(body_for(order)).pk)

    assert moves(order) == [("sending", "success", "callback")]


def test_an_unsigned_callback_changes_no_status_and_makes_the_order_due():
    order = make_order(Status.PENDING, next_check_at="2030-01-01T00:00:00Z")

    receipt = services.process(_receive(body_for(order), is_signed=False).pk)

    before, order = order, Order.objects.get(pk=order.pk)
    assert order.status == Status.PENDING
    assert str(order.next_check_at) < before.next_check_at
    assert receipt.state == Receipt.State.HINT


def test_an_unknown_ref_id_changes_nothing():
    order = make_order(Status.PENDING)
    body = body_for(order).replace(order.ref_id.encode(), b"never-seen")

    receipt = services.process(_receive(body).pk)

    assert receipt.state == Receipt.State.UNMATCHED
    assert moves(order) == []


@pytest.mark.parametrize(
    "change",
    [
        (b"transaction.success", b"transaction.failed"),
        (b'"price": 10500', b'"price": "10500"'),
        (b'"price": 10500', b'"price": -1'),
        (b'"status": "success"', b'"status": "done"'),
        (b'"data"', b'"payload"'),
    ],
)
def test_a_signed_callback_that_is_not_as_agreed_settles_nothing(change):
    order = make_order(Status.PENDING)
    body = body_for(order)
    assert change[0] in body

    receipt = services.process(_receive(body.replace(*change)).pk)

    assert receipt.state == Receipt.State.MALFORMED
    assert moves(order) == []


def test_contradicting_callbacks_leave_the_first_final_status_and_an_incident():
    order = make_order(Status.PENDING)

    services.process(_receive(body_for(order, "success"), delivery="a").pk)
    services.process(_receive(body_for(order, "failed"), delivery="b").pk)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_the_sweep_processes_what_was_stored_while_the_broker_was_down():
    order = make_order(Status.PENDING)
    _make_late(_receive(body_for(order)))

    services.process_due()

    assert moves(order) == [("pending", "success", "callback")]
    assert services.process_due() == 0


def test_a_receipt_that_meets_a_fault_of_ours_does_not_keep_the_others_waiting(monkeypatch):
    first, second = make_order(Status.PENDING), make_order(Status.PENDING, destination="081299999999")
    _make_late(_receive(body_for(first), delivery="a"))
    _make_late(_receive(body_for(second), delivery="b"))
    real = services.apply_outcome

    def faulty(order_id, *args, **kwargs):
        if order_id == first.pk:
            raise RuntimeError("a fault of ours")
        return real(order_id, *args, **kwargs)

    monkeypatch.setattr(services, "apply_outcome", faulty)
    services.process_due()

    assert moves(second) == [("pending", "success", "callback")]
    monkeypatch.undo()
    services.process_due()
    assert moves(first) == [("pending", "success", "callback")]


def test_staff_may_process_a_receipt_again_and_nothing_happens_twice():
    admin = User.objects.create_user("admin")
    order = make_order(Status.PENDING)
    receipt = _receive(body_for(order))
    with pytest.raises(NotPossible):
        services.process_again(receipt, actor=admin)
    services.process(receipt.pk)

    again = services.process_again(receipt, actor=admin)

    assert again.state == Receipt.State.APPLIED
    assert moves(order) == [("pending", "success", "callback")]
