"""A stored callback settles the order when its body is signed."""

import datetime as dt
import json
import time
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from callbacks import services
from callbacks.errors import StillWaiting
from callbacks.models import Callback, CallbackState
from callbacks.tasks import process_waiting
from purchases.models import Incident, Order
from purchases.states import Status
from staff.models import User
from testing.callbacks import body_for, post, receive
from testing.database import statements
from testing.factories import entries_of, make_order, moves
from testing.orders import at_once, sent
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


def _break_for(monkeypatch, order: Order) -> None:
    """Make our own code fail on every callback about this order."""
    real = services.apply_reports

    def apply(reports):
        if order.ref_id in reports:
            raise RuntimeError("a fault of ours")
        return real(reports)

    monkeypatch.setattr(services, "apply_reports", apply)


def test_a_signed_callback_settles_the_order_and_itself_once():
    admin = User.objects.create_user("admin")
    order = make_order(Status.PENDING)
    callback = receive(body_for(order, sn="SN-77"))
    with pytest.raises(StillWaiting):
        services.process_again(callback, actor=admin)

    callback = services.process(callback.pk)

    order.refresh_from_db()
    assert (order.status, order.sn) == ("success", "SN-77")
    assert order.events.get().callback_id == callback.pk
    assert (callback.state, callback.result) == ("applied", "pending → success")
    assert services.process_again(callback, actor=admin).state == CallbackState.APPLIED
    assert moves(order) == [("pending", "success", "callback")]


def test_a_callback_before_the_answer_settles_the_order_sent():
    order = make_order(Status.SENDING)

    services.process(receive(body_for(order)).pk)

    assert moves(order) == [("sending", "success", "callback")]


def _without_texts(data: dict[str, Any]) -> None:
    for text in ("product_name", "message", "sn"):
        data.pop(text)


def _with_empty_texts(data: dict[str, Any]) -> None:
    data.update(product_name=None, message=None, sn=None)


@pytest.mark.django_db(transaction=True)
def test_an_unusual_callback_settles_the_order():
    open_books(100_000)
    for change, status, sn in [
        *((change, status, "") for change in (_without_texts, _with_empty_texts) for status in ("success", "failed")),
        # fractions in fields that we do not know, and an SN of twenty digits as a number
        (lambda data: data.update(fee_percent=1.5, rate=1e3), "success", "SN-1"),
        (lambda data: data.update(sn=53112345678901234567), "success", "53112345678901234567"),
    ]:
        order = sent()
        content = json.loads(body_for(order, status))
        change(content["data"])

        assert post(json.dumps(content).encode()).status_code == 200
        services.process_waiting()

        order.refresh_from_db()
        callback = Callback.objects.get(ref_id=order.ref_id)
        assert (order.status, order.sn, callback.state) == (status, sn, "applied"), content
        steps = ["hold", "release", "debit", *(["refund"] if status == "failed" else [])]
        assert entries_of(order) == [(step, 10_500) for step in steps]
    assert not Incident.objects.exists()


def test_a_signed_callback_that_is_not_as_agreed_or_of_no_order_settles_nothing():
    order = make_order(Status.PENDING)
    body = body_for(order)
    for before, after in [
        (b"transaction.success", b"transaction.failed"),
        (b'"price": 10500', b'"price": "10500"'),
        (b'"price": 10500', b'"price": -1'),
        (b'"status": "success"', b'"status": "done"'),
        (b'"data"', b'"payload"'),
    ]:
        assert before in body

        callback = services.process(receive(body.replace(before, after)).pk)

        assert (callback.state, moves(order)) == (CallbackState.MALFORMED, []), after

    unknown = services.process(receive(body.replace(order.ref_id.encode(), b"never-seen")).pk)
    assert (unknown.state, moves(order)) == (CallbackState.UNMATCHED, [])


@pytest.mark.django_db(transaction=True)
def test_a_fraction_in_a_field_of_the_money_settles_nothing_and_polls():
    open_books(100_000)
    for field in ("price", "balance", "timestamp"):
        order = sent()
        Order.objects.update(next_poll_at="2030-01-01T00:00:00Z")
        content = json.loads(body_for(order))
        if field == "timestamp":  # not as agreed either: there is none
            content["sent_at"] = content.pop(field)
        else:
            content["data"][field] = float(content["data"][field])

        assert post(json.dumps(content).encode()).status_code == 200
        services.process_waiting()

        order.refresh_from_db()
        callback = Callback.objects.get(ref_id=order.ref_id)
        assert (order.status, callback.state) == ("sending", "malformed"), field
        assert field == "timestamp" or callback.result == f"data.{field}"
        assert order.next_poll_at <= timezone.now(), field
        assert entries_of(order) == [("hold", 10_500)], field


@pytest.mark.django_db(transaction=True)
def test_a_callback_and_a_repeat_are_one_statement_each():
    body = body_for(make_order(Status.PENDING))

    for _ in range(2):
        with statements() as sent:
            assert post(body).status_code == 200
        assert len(sent) == 1


def test_one_message_is_for_all_callbacks_that_wait():
    assert not services.DUE_CALLBACKS.earliest().exists()
    callbacks = [receive(body_for(make_order(Status.PENDING)), delivery=delivery) for delivery in "abc"]

    assert services.DUE_CALLBACKS.earliest()[0] == (callbacks[0].next_try_at,)
    (work,) = services.DUE_CALLBACKS.take(20)
    assert work.task == "callbacks.tasks.process_waiting"
    process_waiting(work.pk)

    assert services.DUE_CALLBACKS.take(20) == []
    assert not services.DUE_CALLBACKS.earliest().exists()


def test_one_faulty_callback_stops_no_other_of_its_batch(monkeypatch):
    orders = [make_order(Status.PENDING, destination=f"08129999999{i}") for i in range(5)]
    callbacks = [receive(body_for(order), delivery=order.ref_id) for order in orders]
    _break_for(monkeypatch, orders[2])

    assert services.process_batch(50) == 5

    for order in orders:
        order.refresh_from_db()
    assert [order.status for order in orders] == ["success", "success", "pending", "success", "success"]
    faulty = Callback.objects.get(pk=callbacks[2].pk)
    assert (faulty.state, faulty.tries, faulty.fault) == ("received", 1, "RuntimeError: a fault of ours")


def test_a_hundred_faulty_callbacks_hold_up_no_other(monkeypatch):
    faulty = make_order(Status.PENDING)
    for i in range(100):
        receive(body_for(faulty, sn=f"SN-{i}"), delivery=f"faulty-{i}")
    _break_for(monkeypatch, faulty)
    began = timezone.now()
    services.process_waiting()
    other = make_order(Status.PENDING, destination="081299999999")
    receive(body_for(other), delivery="other")

    assert services.process_batch(1) == 1

    other.refresh_from_db()
    assert other.status == Status.SUCCESS
    kept = Callback.objects.filter(tries=1)
    assert kept.count() == 100
    assert kept[0].next_try_at > began + dt.timedelta(seconds=5)


def test_callbacks_that_keep_coming_are_taken_together(monkeypatch):
    # given that for a second another callback has come at the end of each batch
    comes_until = time.monotonic() + 1
    batches: list[int] = []

    def process(limit: int) -> int:
        batches.append(limit)
        return 1 if time.monotonic() < comes_until else 0

    monkeypatch.setattr(services, "process_batch", process)

    services.process_waiting()

    # the service looks a few times a second, until there is none
    assert time.monotonic() >= comes_until
    assert 2 <= len(batches) <= 6


def test_the_second_callback_of_an_order_is_judged_by_the_first():
    order = make_order(Status.PENDING)
    first = receive(body_for(order, "success"), delivery="a")
    second = receive(body_for(order, "failed"), delivery="b")

    services.process_waiting()

    results = [Callback.objects.get(pk=callback.pk).result for callback in (first, second)]
    assert results == ["pending → success", "success → success"]
    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


@pytest.mark.django_db(transaction=True)
def test_a_batch_costs_no_more_statements_for_more_callbacks():
    for size in (2, 20):
        for i in range(size):
            order = make_order(Status.PENDING, destination=f"0812{size:02d}9999{i:02d}")
            receive(body_for(order), delivery=order.ref_id)

        with statements() as sent:
            assert services.process_batch(50) == size

        # lock callbacks and orders, compare trx_id and SN, move them, end payments, write timelines, note the results
        assert len(sent) == 8


@pytest.mark.django_db(transaction=True)
def test_two_processes_share_the_callbacks_and_process_each_once():
    orders = [make_order(Status.PENDING, destination=f"08129999{i:04d}") for i in range(30)]
    for order in orders:
        receive(body_for(order), delivery=order.ref_id)

    at_once(*[lambda: [services.process_batch(5) for _ in range(8)]] * 3)

    assert not Callback.objects.exclude(state=CallbackState.APPLIED).exists()
    assert {tuple(moves(order)) for order in orders} == {(("pending", "success", "callback"),)}


def test_a_callback_is_processed_once_our_fault_is_mended(monkeypatch):
    order = make_order(Status.PENDING)
    callback = receive(body_for(order))
    with monkeypatch.context() as broken:
        broken.setattr(services, "apply_reports", lambda *_args: 1 / 0)
        assert services.process(callback.pk).tries == 1

    callback = services.process(callback.pk)

    assert (callback.state, callback.tries, callback.fault) == ("applied", 0, "")
    assert moves(order) == [("pending", "success", "callback")]


def test_a_fault_of_the_database_is_kept_without_the_row(monkeypatch):
    order = make_order(Status.PENDING)
    break_row = partial(Order.objects.filter(pk=order.pk).update, next_poll_at=None)
    monkeypatch.setattr(services, "apply_reports", lambda _reports: break_row())

    callback = services.process(receive(body_for(order)).pk)

    assert callback.fault == (
        'IntegrityError: new row for relation "purchases_order" violates check constraint "order_never_forgotten"'
    )
