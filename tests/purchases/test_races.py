"""Races about one order: each thread has a real connection of its own, and a barrier starts them together."""

import uuid
from collections.abc import Callable

import pytest
from django.db import transaction

from catalogue.models import Product
from gateway.services import next_number
from ledger.models import Books, Entry
from purchases.errors import OpenDuplicate
from purchases.models import Incident, Order, OrderEvent
from purchases.services import (
    Report,
    apply_reports,
    cancel_order,
    lock_order_for_move,
    submit,
)
from purchases.services.sending import claim
from purchases.states import Status
from reconciliation.services.on_demand import poll_soon
from testing.database import statements
from testing.factories import make_order, make_product, moves, reported
from testing.orders import CALLBACK, POLL, SUBMIT, Meanwhile, at_once, place, report
from tests.conftest import Upstream
from upstream.budget import CallClass


def _placing(product: Product, key: str, destination: str = "081290000001") -> Callable[[], Order]:
    return lambda: place(product, destination=destination, idempotency_key=key)


@pytest.mark.django_db(transaction=True)
def test_one_form_confirmed_many_times_at_once_is_one_order():
    product, key = make_product(), str(uuid.uuid4())

    orders = at_once(*[_placing(product, key)] * 6)

    assert len({order.pk for order in orders}) == 1
    assert Order.objects.count() == 1
    assert OrderEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_cashiers_buying_the_same_get_one_order_one_refusal():
    product = make_product()

    results = at_once(_placing(product, "a"), _placing(product, "b"))

    assert sorted(type(result).__name__ for result in results) == ["OpenDuplicate", "Order"]
    refusal = next(result for result in results if isinstance(result, OpenDuplicate))
    assert refusal.order == Order.objects.get()


@pytest.mark.django_db(transaction=True)
def test_the_first_orders_of_all_are_all_placed():
    # given: a shop that has never sold, and so has no books yet
    product = make_product()
    assert not Books.objects.exists()

    orders = at_once(*(_placing(product, str(number), f"08129000000{number}") for number in range(6)))

    assert [order.status for order in orders] == [Status.QUEUED] * 6
    assert Books.objects.get().reserved == 6 * product.price
    assert sorted(Entry.objects.values_list("ref_id", "kind")) == sorted((order.ref_id, "hold") for order in orders)


@pytest.mark.django_db(transaction=True)
def test_an_order_is_claimed_by_one_of_many():
    order = make_order(Status.QUEUED)

    claims = at_once(*[lambda: claim(order.pk)] * 6)

    assert len([won for won in claims if won is not None]) == 1
    assert moves(order) == [("queued", "sending", "submit")]


def test_many_workers_submitting_one_order_send_it_once(upstream: Upstream):
    product = Product.objects.get(name="Telkomsel 10.000")
    order = _placing(product, "k")()

    at_once(*[lambda: submit(order.pk, call_class=CallClass.INTERACTIVE)] * 4)

    order.refresh_from_db()
    assert order.status == Status.PENDING
    assert upstream.calls(order) == ["/v1/transaction/create"]
    assert upstream.ledger(order) == [("debit", -product.price)]


@pytest.mark.django_db(transaction=True)
def test_cancel_and_claim_at_once_have_one_winner(django_user_model):
    admin = django_user_model.objects.create_superuser("admin")
    for _ in range(5):
        order = make_order(Status.QUEUED, destination=f"08{uuid.uuid4().int % 10**10:010d}")

        claimed, _cancelled = at_once(lambda o=order: claim(o.pk), lambda o=order: cancel_order(o, actor=admin))

        order.refresh_from_db()
        assert order.status == (Status.SENDING if claimed else Status.CANCELLED)
        assert len(moves(order)) == 1


@pytest.mark.django_db(transaction=True)
def test_one_success_by_callback_poll_and_answer_is_one_event():
    order = make_order(Status.SENDING)
    at_once(*(lambda s=source: report(order, source=s) for source in (CALLBACK, POLL, SUBMIT)))

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert len(moves(order)) == 1
    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_contradictions_at_once_leave_one_end_and_one_incident():
    order = make_order(Status.PENDING)

    at_once(*(lambda s=status: report(order, s, source=CALLBACK) for status in ("success", "failed")))

    assert len(moves(order)) == 1
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


@pytest.mark.django_db(transaction=True)
def test_a_number_taken_with_a_lock_is_after_what_it_waited_for():
    order = make_order(Status.QUEUED)

    @transaction.atomic
    def take() -> int:
        return lock_order_for_move(order.pk).locked_no

    with transaction.atomic():
        lock_order_for_move(order.pk)
        waiting = Meanwhile(take)
        assert waiting.is_blocked_by_us()
        Order.objects.filter(pk=order.pk).update(polls=1)
        number = next_number()

    assert waiting.end() > number


@pytest.mark.django_db(transaction=True)
def test_two_batches_of_reports_in_opposite_order_never_deadlock():
    orders = [make_order(Status.SENDING, destination=f"0812345678{i:02d}") for i in range(20)]
    reports = {order.ref_id: Report(data=reported(order), source=CALLBACK) for order in orders}

    at_once(lambda: apply_reports(reports), lambda: apply_reports(dict(reversed(reports.items()))))

    assert {tuple(moves(order)) for order in orders} == {(("sending", "success", "callback"),)}


@pytest.mark.django_db(transaction=True)
def test_an_order_that_ends_meanwhile_is_polled_no_more():
    ending, other = (make_order(Status.PENDING, destination=f"08123456780{i}") for i in range(2))

    with transaction.atomic():
        report(ending)
        asking = Meanwhile(lambda: poll_soon([ending.ref_id, other.ref_id]))
        assert asking.is_blocked_by_us()

    assert asking.end() == 1
    assert Order.objects.filter(next_poll_at=None).get() == ending


@pytest.mark.django_db(transaction=True)
def test_the_books_are_locked_last_and_for_one_statement():
    order = _placing(make_product(), "k")()
    claim(order.pk)

    with statements() as sent:
        report(order, source=CALLBACK)

    assert ["ledger_books" in sql for sql in sent] == [False] * (len(sent) - 1) + [True]
