"""What a stored callback does: settles the order when its body is signed, else only makes us ask."""

import datetime as dt

import pytest
from django.utils import timezone

from callbacks import services
from callbacks.errors import StillWaiting
from callbacks.models import Callback, CallbackState
from purchases.models import Incident, Order
from purchases.states import Status
from staff.models import User
from tests.callbacks.helpers import body_for
from tests.factories import make_order, moves

pytestmark = pytest.mark.django_db


def _receive(body: bytes, ref_id: str = "x", *, is_signed: bool = True, delivery: str = "d-1") -> Callback:
    return services.receive(
        body=body,
        headers={"X-Delivery-Id": delivery},
        source_address="127.0.0.1",
        is_signed=is_signed,
        ref_id=ref_id,
        event="transaction.success",
    )


def _make_due() -> None:
    """As if each callback had waited for a while."""
    Callback.objects.update(next_try_at=timezone.now() - dt.timedelta(seconds=1))


def _take(limit: int = 100) -> list[int]:
    """The callbacks that are handed out now."""
    return [work.pk for work in services.take_due(limit)]


def test_a_signed_callback_settles_the_order_and_itself():
    order = make_order(Status.PENDING)
    callback = _receive(body_for(order, sn="SN-77"))

    callback = services.process(callback.pk)

    order.refresh_from_db()
    assert (order.status, order.sn) == ("success", "SN-77")
    assert order.events.get().callback_id == callback.pk
    assert (callback.state, callback.result) == ("applied", "pending → success")


def test_a_callback_before_the_answer_settles_the_order_sent():
    order = make_order(Status.SENDING)

    services.process(_receive(body_for(order)).pk)

    assert moves(order) == [("sending", "success", "callback")]


def test_an_unsigned_callback_only_makes_the_order_due():
    order = make_order(Status.PENDING, next_poll_at="2030-01-01T00:00:00Z")

    callback = services.process(_receive(body_for(order), is_signed=False).pk)

    before, order = order, Order.objects.get(pk=order.pk)
    assert order.status == Status.PENDING
    assert str(order.next_poll_at) < before.next_poll_at
    assert callback.state == CallbackState.HINT


def test_an_unknown_ref_id_changes_nothing():
    order = make_order(Status.PENDING)
    body = body_for(order).replace(order.ref_id.encode(), b"never-seen")

    callback = services.process(_receive(body).pk)

    assert callback.state == CallbackState.UNMATCHED
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

    callback = services.process(_receive(body.replace(*change)).pk)

    assert callback.state == CallbackState.MALFORMED
    assert moves(order) == []


def test_contradicting_callbacks_keep_the_first_and_an_incident():
    order = make_order(Status.PENDING)

    services.process(_receive(body_for(order, "success"), delivery="a").pk)
    services.process(_receive(body_for(order, "failed"), delivery="b").pk)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_a_callback_whose_task_was_lost_is_handed_out_again():
    callback = _receive(body_for(make_order(Status.PENDING)))
    assert _take() == []

    _make_due()

    assert _take() == [callback.pk]
    assert _take() == []  # it is leased


def test_a_hundred_faulty_callbacks_hold_up_no_other(monkeypatch):
    faulty = make_order(Status.PENDING)
    for i in range(100):
        _receive(body_for(faulty), delivery=f"faulty-{i}")
    real = services.apply_report

    def apply(order_id, *args, **kwargs):
        if order_id == faulty.pk:
            raise RuntimeError("a fault of ours")
        return real(order_id, *args, **kwargs)

    monkeypatch.setattr(services, "apply_report", apply)
    _make_due()
    for callback_id in _take():
        services.process(callback_id)
    other = _receive(body_for(make_order(Status.PENDING, destination="081299999999")), delivery="other")
    Callback.objects.filter(pk=other.pk).update(next_try_at=timezone.now() - dt.timedelta(seconds=1))

    assert _take() == [other.pk]
    kept = Callback.objects.filter(ref_id="x", tries=1).first()
    assert "a fault of ours" in kept.fault
    assert kept.next_try_at > timezone.now() + dt.timedelta(seconds=5)


def test_a_callback_is_processed_once_our_fault_is_mended(monkeypatch):
    order = make_order(Status.PENDING)
    callback = _receive(body_for(order))
    with monkeypatch.context() as broken:
        broken.setattr(services, "apply_report", lambda *_args, **_kwargs: 1 / 0)
        assert services.process(callback.pk).tries == 1

    callback = services.process(callback.pk)

    assert (callback.state, callback.tries, callback.fault) == ("applied", 0, "")
    assert moves(order) == [("pending", "success", "callback")]


def test_a_callback_processed_again_by_staff_changes_nothing():
    admin = User.objects.create_user("admin")
    order = make_order(Status.PENDING)
    callback = _receive(body_for(order))
    with pytest.raises(StillWaiting):
        services.process_again(callback, actor=admin)
    services.process(callback.pk)

    again = services.process_again(callback, actor=admin)

    assert again.state == CallbackState.APPLIED
    assert moves(order) == [("pending", "success", "callback")]
