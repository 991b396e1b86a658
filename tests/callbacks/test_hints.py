"""A callback whose body is not signed is only a hint: its order is polled, a limited number of times."""

import datetime as dt
from functools import partial

import pytest
from django.db import transaction

from callbacks import services
from callbacks.models import Callback, CallbackState
from gateway.services import calling
from ledger.models import Entry
from purchases.models import Incident, Order
from purchases.states import POLLED, Status
from purchases.tasks import ask_anyway
from testing.callbacks import body_for, receive
from testing.factories import make_order, moves, reported
from testing.orders import Meanwhile, OneAnswer

pytestmark = pytest.mark.django_db


def test_unsigned_callbacks_only_make_their_orders_due():
    far = "2030-01-01T00:00:00Z"
    orders = [make_order(Status.PENDING, destination=f"08129999999{i}", next_poll_at=far) for i in range(3)]
    for order in orders:
        receive(body_for(order), is_signed=False, delivery=order.ref_id)

    services.process_waiting()

    assert Order.objects.filter(status=Status.PENDING, next_poll_at__lt=far).count() == 3
    assert Callback.objects.filter(state=CallbackState.HINT).count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_unsigned_callback_that_says_something_else_has_the_status_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(services, "publish", lambda *work: asked.append(work))
    for nth, status in enumerate(status for status in Status if status not in POLLED):
        order = make_order(status, sn="SN-1", destination=f"08129999999{nth}")

        for said in ("success", "failed"):
            asked.clear()
            callback = services.process(receive(body_for(order, said), order.ref_id, is_signed=False).pk)

            assert asked == ([] if said == status else [("purchases.tasks.ask_anyway", order.pk)]), (status, said)
            assert (callback.state, moves(order)) == ("hint", []), (status, said)
    assert not Incident.objects.exists()  # it is not signed: only the answer of the poll counts


@pytest.mark.django_db(transaction=True)
def test_an_unsigned_callback_with_an_sn_that_a_success_lacks_has_it_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(services, "publish", lambda *work: asked.append(work))
    order = make_order(Status.SUCCESS, trx_id="T-1")

    services.process(receive(body_for(order, sn="SN-7"), is_signed=False).pk)

    assert asked == [("purchases.tasks.ask_anyway", order.pk)]
    monkeypatch.setattr(calling, "get_client", lambda: OneAnswer(reported(order, trx_id="T-1", sn="SN-7")))
    ask_anyway(order.pk)
    order.refresh_from_db()
    assert (order.sn, Incident.objects.exists()) == ("SN-7", False)


@pytest.mark.django_db(transaction=True)
def test_a_flood_of_forged_callbacks_asks_for_the_status_five_times(monkeypatch):
    asked = []
    monkeypatch.setattr(services, "publish", lambda *work: asked.append(work))
    order, other = make_order(Status.SUCCESS), make_order(Status.SUCCESS)

    for number in range(8):
        body = body_for(order, "failed", message=f"forged {number}")
        services.process(receive(body, order.ref_id, is_signed=False).pk)
    services.process(receive(body_for(other, "failed"), is_signed=False).pk)

    assert [pk for _task, pk in asked] == [order.pk] * 5 + [other.pk]


@pytest.mark.django_db(transaction=True)
def test_a_flood_of_forged_callbacks_makes_an_open_order_due_five_times():
    far = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    for is_understood in (True, False):
        order, due = make_order(Status.PENDING, destination=f"08129999999{is_understood:d}"), []

        for number in range(8):
            Order.objects.update(next_poll_at=far)
            body = body_for(order, "failed", message=f"forged {number}")
            body = body if is_understood else body.replace(b'"timestamp"', b'"sent_at"')
            services.process(receive(body, order.ref_id, is_signed=False).pk)
            order.refresh_from_db()
            due.append(order.next_poll_at < far)

        assert due == [True] * 5 + [False] * 3, is_understood


@pytest.mark.django_db(transaction=True)
def test_orders_of_callbacks_are_locked_in_the_order_of_their_keys():
    # given: the order with the first key has the last ref_id and place, and two callbacks of a form that is not agreed
    first, second = (make_order(Status.PENDING, ref_id=f"B260101-{letter * 10}") for letter in "ZA")
    Order.objects.filter(pk=first.pk).update(next_poll_at="2030-01-01T00:00:00Z")
    for order in (first, second):
        body = body_for(order).replace(b'"timestamp"', b'"sent_at"')
        receive(body, order.ref_id, is_signed=False, delivery=order.ref_id)

    # when: another step holds the first, and takes the second afterwards
    with transaction.atomic():
        Order.objects.select_for_update().get(pk=first.pk)
        processing = Meanwhile(partial(services.process_batch, 50))
        assert processing.is_blocked_by_us()
        Order.objects.select_for_update(nowait=True).get(pk=second.pk)

    # then: nobody waits for the other one
    assert processing.end() == 2


@pytest.mark.django_db(transaction=True)
def test_the_answer_to_that_question_is_believed(monkeypatch):
    for nth, (status, says, expected) in enumerate(
        [
            ("success", "failed", ("success", ["contradiction"])),
            ("closed", "success", ("closed", ["contradiction"])),
            ("rejected", "pending", ("rejected", ["contradiction"])),
            ("success", "success", ("success", [])),  # the callback was forged, or old
        ]
    ):
        trx_id = f"T-{nth}"
        order = make_order(Status(status), trx_id=trx_id if status == "success" else "", sn="SN-1")

        monkeypatch.setattr(calling, "get_client", lambda: OneAnswer(reported(order, says, trx_id=trx_id)))  # noqa: B023
        ask_anyway(order.pk)

        order.refresh_from_db()
        assert (order.status, [incident.kind for incident in order.incidents.all()]) == expected, says
        assert (moves(order), Entry.objects.count()) == ([], 0)
