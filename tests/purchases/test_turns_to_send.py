"""An order is sent at its turn with a permit; other orders stay queued without any charge."""

from datetime import timedelta

import pytest
import redis
import time_machine
from django.utils import timezone

from gateway.line import Work
from gateway.services import read_balance, sending_is_stopped, upstream_account
from purchases import tasks
from purchases.models import Order
from purchases.services import DUE_ORDERS, submit
from purchases.services.polling import follow
from purchases.states import Status
from testing.factories import entries_of, moves
from tests.conftest import Upstream
from tests.purchases.magic import buy, place
from upstream.budget import PERMIT_SECONDS, Budget, CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint
from upstream.errors import ErrorCode, Misconfigured, Rejected

CREATE = "/v1/transaction/create"
INTERACTIVE, BACKGROUND = CallClass.INTERACTIVE, CallClass.BACKGROUND


def test_a_429_is_waited_out_and_the_same_request_sent_again(upstream: Upstream):
    order = buy(24, wait=15)

    assert order.status == Status.SUCCESS
    assert [to for _, to, _ in moves(order)] == ["queued", "sending", "queued", "sending", "pending", "success"]
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE, CREATE]


def test_wrong_credentials_stop_all_sending_until_right_again(upstream: Upstream, settings):
    right = settings.UPSTREAM_SECRET_KEY
    settings.UPSTREAM_SECRET_KEY = "not-the-key"
    get_client().budget.declare_fresh()
    first, second = place(1), place(2)

    submit(first.pk, call_class=INTERACTIVE)
    submit(second.pk, call_class=INTERACTIVE)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("queued", "queued")
    assert upstream_account().refused_code == "INVALID_SIGNATURE"
    assert upstream.calls(second) == []
    with pytest.raises(Misconfigured):
        read_balance()

    settings.UPSTREAM_SECRET_KEY = right
    read_balance()
    assert not sending_is_stopped()
    submit(first.pk, call_class=INTERACTIVE)
    assert follow(first, seconds=10).status == Status.SUCCESS
    assert upstream.ledger(first) == [("debit", -first.max_price)]


def test_an_upstream_out_of_reach_leaves_the_order_queued(upstream: Upstream, settings):
    there = settings.UPSTREAM_BASE_URL
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()
    order = place(1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert upstream_account().unreachable_since is not None

    settings.UPSTREAM_BASE_URL = there
    submit(order.pk, call_class=INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS
    assert upstream_account().unreachable_since is None
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_without_a_connection_the_pauses_grow_with_the_orders_age_to_a_minute(upstream: Upstream, settings):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()
    order, pauses = place(1), []

    for age in (0, 60, 180, 480):
        with time_machine.travel(order.created_at + timedelta(seconds=age), tick=True):
            submit(order.pk, call_class=INTERACTIVE)
            order.refresh_from_db()
            assert order.next_poll_at
            pauses.append(round((order.next_poll_at - timezone.now()).total_seconds()))

    assert pauses == [10, 10, 30, 60]
    assert order.status == Status.QUEUED


def test_an_exhausted_budget_leaves_the_order_queued_and_unsent(upstream: Upstream, settings):
    settings.UPSTREAM_ACCOUNT_RATE = "1/minute"
    settings.UPSTREAM_INTERACTIVE_WAIT = 0.1
    get_client().reserve(Endpoint.BALANCE, call_class=INTERACTIVE)
    order = place(1)
    Order.objects.filter(pk=order.pk).update(next_poll_at=timezone.now())

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert order.next_poll_at > timezone.now() + timedelta(seconds=30)  # when the minute of the first call is over
    assert upstream.calls(order) == []
    assert moves(order) == [("", "queued", "staff")]


def test_an_order_taken_by_another_process_or_by_a_frozen_worker_is_not_sent(upstream: Upstream, monkeypatch):
    order = place(1)
    with monkeypatch.context() as patch:
        patch.setattr("purchases.services.sending.claim", lambda *_args, **_facts: None)
        submit(order.pk, call_class=INTERACTIVE)
    assert get_client().budget.used() == 0  # it leaves its place in the budget

    monkeypatch.setattr("upstream.budget.Permit.start", lambda self, endpoint: False)  # 15 s have passed
    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert upstream.calls(order) == []


def test_a_huge_retry_after_is_cut_to_the_longest_delay(upstream: Upstream, monkeypatch):
    order = place(1)

    def refused(self, *args):
        raise Rejected(
            error_code=ErrorCode.RATE_LIMITED,
            message="slow down",
            http_status=429,
            retry_after=999_999.0,
        )

    monkeypatch.setattr("upstream.client.Client.send", refused)
    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert order.next_poll_at < timezone.now() + timedelta(minutes=10, seconds=1)


def test_the_oldest_due_are_taken_first_and_leased(upstream: Upstream):
    older, newer, later = place(1), place(2), place(3)
    now = timezone.now()
    for order, age in ((older, 20), (newer, 10), (later, -60)):
        Order.objects.filter(pk=order.pk).update(next_poll_at=now - timedelta(seconds=age))

    taken = [DUE_ORDERS.take(1) for _ in range(3)]

    submit_task = tasks.submit_order.name
    assert taken == [[Work(submit_task, older.pk)], [Work(submit_task, newer.pk)], []]


def test_a_permit_that_was_handed_over_is_the_one_used(upstream: Upstream, monkeypatch):
    order = place(1)
    permit = get_client().budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0)
    monkeypatch.setattr("upstream.client.Client.reserve", None)

    tasks.submit_order(order.pk, permit.hand_over())

    assert upstream.calls(order) == [CREATE]


def make_void(permit_id: str) -> None:
    """Let the permit expire, as while its message waits too long in the workers' queue."""
    valkey = redis.Redis.from_url(get_client().config.redis_url)
    for limit in Endpoint.TRANSACTION_STATUS.limits:
        _calls, booked = get_client().budget._keys(limit)
        valkey.zincrby(booked, -(PERMIT_SECONDS + 1) * 1_000_000, permit_id)


def test_given_a_message_that_waited_too_long_then_its_order_is_sent_once(upstream: Upstream):
    order = place(1)
    permit_id = get_client().budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0).hand_over()
    make_void(permit_id)

    tasks.submit_order(order.pk, permit_id)
    tasks.submit_order(order.pk, permit_id)  # the message comes twice

    order.refresh_from_db()
    assert (order.status, order.attempt) == ("pending", 1)
    assert moves(order) == [("", "queued", "staff"), ("queued", "sending", "submit"), ("sending", "pending", "submit")]
    assert upstream.calls(order) == [CREATE]
    assert upstream.ledger(order) == [("debit", -order.max_price)]
    kinds = ("hold", "release", "debit")
    assert entries_of(order) == [(kind, order.max_price) for kind in kinds]
    assert get_client().budget.used() == 1


def test_given_a_void_permit_and_a_full_limit_then_nothing_is_sent(upstream: Upstream, settings, monkeypatch):
    monkeypatch.setattr("gateway.services.calling._PATIENCE_SECONDS", 0.0)
    order = place(1)
    permit_id = get_client().budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0).hand_over()
    make_void(permit_id)
    settings.UPSTREAM_ACCOUNT_RATE = "1/minute"
    get_client().reserve(Endpoint.BALANCE, call_class=INTERACTIVE)

    tasks.submit_order(order.pk, permit_id)

    order.refresh_from_db()
    assert (order.status, order.attempt) == ("queued", 0)
    assert moves(order) == [("", "queued", "staff")]
    assert upstream.calls(order) == []
    assert entries_of(order) == [("hold", order.max_price)]


def test_given_a_void_permit_then_another_is_booked_for_the_same_people_and_a_poll_still_asks(
    upstream: Upstream, monkeypatch
):
    reserve, booked = Budget.reserve, []

    def note(budget, endpoint, for_whom, wait_seconds):
        booked.append(for_whom)
        return reserve(budget, endpoint, for_whom, wait_seconds)

    def void_permit(call_class):
        permit_id = get_client().budget.book(Endpoint.TRANSACTION_STATUS, call_class, 1.0).hand_over()
        make_void(permit_id)
        return permit_id

    monkeypatch.setattr(Budget, "reserve", note)
    for number, call_class in enumerate(CallClass, start=1):
        order = place(number)
        tasks.submit_order(order.pk, void_permit(call_class))

        assert booked == [call_class]
        assert upstream.calls(order) == [CREATE]
        booked.clear()

    tasks.poll_order(order.pk, void_permit(BACKGROUND))
    assert upstream.calls(order) == [CREATE, "/v1/transaction/status"]


def test_a_permit_for_what_is_done_already_is_given_back(upstream: Upstream):
    order, budget = buy(1), get_client().budget
    for task in (tasks.submit_order, tasks.poll_order, tasks.poll_by_hand):
        permit = budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0)

        task(order.pk, permit.hand_over())

        assert not budget.take_over(permit.id, Endpoint.TRANSACTION_STATUS).start(Endpoint.TRANSACTION_STATUS), task
