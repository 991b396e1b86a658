"""Rules that hold twice: in our code, and in the database if our code's guard is gone."""

import datetime as dt
import uuid
from itertools import pairwise

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from drawers.services import PaymentFacts
from ledger.models import Entry
from purchases import tasks
from purchases.models import Order
from purchases.services import poll, poll_now, submit
from purchases.services.moving import lock_order_for_move, store
from purchases.services.polling import Found
from purchases.services.sending import claim
from purchases.states import Status
from testing.factories import make_order, make_product, moves
from testing.orders import SUBMIT, place, report, sent
from testing.people import make_person
from tests.conftest import Upstream
from tests.purchases import magic
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_order_is_locked_inside_a_transaction_or_not_at_all():
    order = place()

    with pytest.raises(transaction.TransactionManagementError):
        lock_order_for_move(order.pk)
    with pytest.raises(Order.DoesNotExist), transaction.atomic():
        lock_order_for_move(order.pk + 1)


def test_our_code_refunds_a_failure_once_and_the_database_refuses_a_second_refund():
    order = sent()
    for _ in range(2):
        report(order, "failed", source=SUBMIT)
    refund = Entry.objects.get(kind="refund")

    refund.pk = None
    with pytest.raises(IntegrityError, match="entry_refund_once"), transaction.atomic():
        refund.save(force_insert=True)


def test_only_a_queued_order_is_claimed_by_our_code_and_in_the_database():
    sending = {"status": Status.SENDING, "action_reason": "", "sent_no": 1, "final_at": None, "ended_no": None}
    for status in sorted(set(Status) - {Status.QUEUED}):
        order = make_order(status)

        assert claim(order.pk) is None, status
        assert moves(order) == [], status
        if status != Status.SENDING:
            with pytest.raises(DatabaseError, match=r"[Ii]nvalid transition"), transaction.atomic():
                Order.objects.filter(pk=order.pk).update(**sending, next_poll_at=timezone.now())


def test_the_database_refuses_an_open_duplicate():
    order = make_order(Status.PENDING)
    twin = Order(
        ref_id="TWIN",
        idempotency_key=str(uuid.uuid4()),
        product=order.product,
        product_code=order.product_code,
        product_name=order.product_name,
        destination=order.destination,
        max_price=order.max_price,
        next_poll_at=timezone.now(),
    )

    with pytest.raises(IntegrityError, match="order_open_once_per_destination"):
        store(twin, PaymentFacts())
    assert not Entry.objects.filter(ref_id="TWIN").exists()


def test_not_found_means_nothing_while_a_request_may_be_open(upstream: Upstream, settings):
    settings.ORDER_NOT_FOUND_ANSWERS = 1
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    settings.UPSTREAM_READ_TIMEOUT = 60.0
    order = place(make_product())
    claim(order.pk)

    assert poll(order.pk, call_class=CallClass.INTERACTIVE) == Found.NOT_FOUND

    order.refresh_from_db()
    assert (order.status, order.not_found_count, order.not_found_since) == (Status.SENDING, 0, None)

    Order.objects.filter(pk=order.pk).update(sent_at=timezone.now() - dt.timedelta(minutes=2))
    assert poll(order.pk, call_class=CallClass.INTERACTIVE) == Found.NOT_FOUND
    order.refresh_from_db()
    assert (order.status, order.not_found_count) == (Status.NEEDS_ACTION, 1)


def test_polls_by_hand_leave_the_next_one_and_its_pause(upstream: Upstream):
    admin = make_person("supervisor")
    due = timezone.now() + dt.timedelta(seconds=40)

    for status in (Status.UNKNOWN, Status.PENDING):
        order = make_order(status, polls=4, next_poll_at=due)
        for _ in range(3):
            poll_now(order, actor=admin)
            tasks.poll_by_hand(order.pk)

        order.refresh_from_db()
        assert (order.polls, order.next_poll_at) == (4, due), status
        assert upstream.calls(order, "status") == ["/v1/transaction/status"] * 3, status


def test_a_poll_by_hand_that_was_not_made_falls_due_soon_and_never_delays_the_next(upstream: Upstream, settings):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"  # nobody listens
    now = timezone.now()
    later, soon = now + dt.timedelta(minutes=9), now + dt.timedelta(milliseconds=1)
    order, other = (make_order(Status.UNKNOWN, polls=4, next_poll_at=due) for due in (later, soon))

    assert tasks.poll_by_hand(order.pk) is False
    for _ in range(2):
        assert tasks.poll_by_hand(other.pk) is False

    order.refresh_from_db()
    assert (order.polls, order.next_poll_at < later) == (4, True)
    other.refresh_from_db()
    assert (other.polls, other.next_poll_at) == (4, soon)


def test_each_poll_without_a_result_makes_the_next_pause_of_this_order_longer(upstream: Upstream, monkeypatch):
    monkeypatch.setattr("gateway.polling.random.uniform", lambda low, high: 1.0)
    pending, not_found = magic.place(3), make_order(Status.UNKNOWN)  # the first one stays pending
    submit(pending.pk, call_class=CallClass.INTERACTIVE)
    due = timezone.now() + dt.timedelta(minutes=9)
    other = make_order(Status.UNKNOWN, destination="081234567899", polls=5, next_poll_at=due)
    now = timezone.now()
    monkeypatch.setattr("core.clock.now", lambda: now)
    for order in (not_found, pending):
        pauses = []
        for _ in range(4):
            poll(order.pk, call_class=CallClass.INTERACTIVE)
            order.refresh_from_db()
            pauses.append((order.polls, order.next_poll_at - now))

        assert [polls for polls, _pause in pauses] == [1, 2, 3, 4], order.status
        assert all(later > 1.5 * earlier for (_, earlier), (_, later) in pairwise(pauses)), order.status
    assert pending.status == Status.PENDING
    other.refresh_from_db()
    assert (other.polls, other.next_poll_at) == (5, due)
