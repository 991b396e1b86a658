"""Races about one order, on real connections: each thread has its own, and a barrier lets them go at once."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from purchases.errors import OpenDuplicate
from purchases.models import Incident, Order, OrderEvent, Product
from purchases.order_life import Status
from purchases.services import Outcome, apply_outcome, cancel_order, place_order, submit
from purchases.services.sending import claim
from tests.conftest import Upstream
from tests.factories import make_order, make_product, moves, reported
from upstream.budget import CallClass


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run each in a thread with a connection of its own, started together; results or exceptions in their order."""
    barrier = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def run(index: int, work: Callable[[], Any]) -> None:
        try:
            barrier.wait(10)
            results[index] = work()
        except Exception as error:  # the test looks at it
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "deadlock"
    return results


def _placing(product: Product, key: str) -> Callable[[], Order]:
    return lambda: place_order(
        product=product,
        destination="081290000001",
        max_price=product.price,
        idempotency_key=key,
        placed_by=None,
        enqueue=False,
    )


@pytest.mark.django_db(transaction=True)
def test_one_form_confirmed_many_times_at_once_is_one_order():
    product, key = make_product(), str(uuid.uuid4())

    orders = at_once(*[_placing(product, key)] * 6)

    assert len({order.pk for order in orders}) == 1
    assert Order.objects.count() == 1
    assert OrderEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_cashiers_buying_the_same_at_once_get_one_order_and_one_refusal():
    product = make_product()

    results = at_once(_placing(product, "a"), _placing(product, "b"))

    assert sorted(type(result).__name__ for result in results) == ["OpenDuplicate", "Order"]
    refusal = next(result for result in results if isinstance(result, OpenDuplicate))
    assert refusal.order == Order.objects.get()


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
    admin = django_user_model.objects.create_user("admin")
    for _ in range(5):
        order = make_order(Status.QUEUED, destination=f"08{uuid.uuid4().int % 10**10:010d}")

        claimed, _cancelled = at_once(lambda o=order: claim(o.pk), lambda o=order: cancel_order(o, actor=admin))

        order.refresh_from_db()
        assert order.status == (Status.SENDING if claimed else Status.CANCELLED)
        assert len(moves(order)) == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_success_by_callback_poll_and_answer_at_once_is_one_event():
    order = make_order(Status.SENDING)
    outcome = Outcome.reported(reported(order), raw=None)

    at_once(
        lambda: apply_outcome(order.pk, outcome, source=OrderEvent.Source.CALLBACK),
        lambda: apply_outcome(order.pk, outcome, source=OrderEvent.Source.POLL),
        lambda: apply_outcome(order.pk, outcome, source=OrderEvent.Source.SUBMIT, attempt=1),
    )

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert len(moves(order)) == 1
    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_contradicting_outcomes_at_once_leave_one_final_status_and_one_incident():
    order = make_order(Status.PENDING)

    at_once(
        *(
            lambda s=status: apply_outcome(
                order.pk, Outcome.reported(reported(order, s), raw=None), source=OrderEvent.Source.CALLBACK
            )
            for status in ("success", "failed")
        )
    )

    assert len(moves(order)) == 1
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION
