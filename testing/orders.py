"""Orders brought through their life by the real services, for the tests of several rooms."""

import datetime as dt
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from catalogue.models import Product
from gateway.services import calling
from purchases.models import Order, OrderEvent
from purchases.services import Decision, Report, apply_report, apply_verdict, place_order, poll, submit
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from testing.factories import make_product, reported
from upstream.budget import CallClass
from upstream.client import Reply
from upstream.messages import Transaction

# An order as JSON, as the commands print it.
FIELDS = {"ref_id", "trx_id", "kind", "product_code", "destination", "price", "status", "sn", "message"}

NUMBER = "081234567890"
SUBMIT, POLL, CALLBACK, STAFF = (OrderEvent.Source(name) for name in ("submit", "poll", "callback", "staff"))


def place(product: Product | None = None, **facts: Any) -> Order:
    """A queued order for a number of its own, not handed to any worker unless the facts say so."""
    product = product or make_product()
    facts = {
        "destination": f"0812{uuid.uuid4().int % 10**8:08d}",
        "max_price": product.price,
        "idempotency_key": str(uuid.uuid4()),
        "placed_by": None,
        "enqueue": False,
        **facts,
    }
    return place_order(product=product, **facts)


def report(order: Order, status: str = "success", *, source: OrderEvent.Source = POLL, **facts: Any) -> Order:
    """The upstream says this of the order, by `source`; the order afterwards."""
    kept = {name: facts.pop(name) for name in ("asked_no", "callback_id") if name in facts}
    data = reported(order, status, **facts)
    return apply_report(order.pk, Report(data=data, source=source, raw={"status": status}, **kept))


def answer(order: Order, status: Status, **facts: Any) -> Order:
    """Give this answer to the order's last sending. A definite no leaves no doubt about this sending."""
    current = Order.objects.get(pk=order.pk)
    if status != Status.UNKNOWN and "uncharged_no" not in facts:
        facts["uncharged_no"] = current.sent_no
    return apply_verdict(current.pk, Decision(status=status, source=SUBMIT, **facts), attempt=current.attempt)


def sent(**facts: Any) -> Order:
    """An order that was sent and has no answer yet."""
    order = place(**facts)
    claim(order.pk)
    order.refresh_from_db()
    return order


def sent_before(order: Order, **time: float) -> Order:
    """The order, as if its last sending was so long ago: after an hour people may decide it."""
    Order.objects.filter(pk=order.pk).update(sent_at=timezone.now() - dt.timedelta(**time))
    order.refresh_from_db()
    return order


def never_arrived(order: Order) -> Order:
    """The order is sent, gets no answer, and the upstream does not know it until the grace period is over."""
    if order.status == Status.QUEUED:
        claim(order.pk)
        answer(order, Status.UNKNOWN)
    facts = {"code": "not_found", "times": 3, "since": "2026-11-21T18:57:02+00:00"}
    gone = Decision(
        status=Status.NEEDS_ACTION,
        source=POLL,
        action_reason=ActionReason.NEVER_ARRIVED,
        error_code="TRANSACTION_NOT_FOUND",
        facts=facts,
    )
    return apply_verdict(order.pk, gone)


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


class Meanwhile:
    """A step that runs on another connection."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.fault: Exception | None = None
        self._result: Any = None
        self._thread = threading.Thread(target=self._run, args=[work])
        self._thread.start()

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            self._result = work()
        except Exception as error:  # the test looks at it
            self.fault = error
        finally:
            connections.close_all()

    def is_blocked_by_us(self) -> bool:
        """Whether the step waits for a lock of this connection; False when it ends instead."""
        while self._thread.is_alive():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
                )
                if cursor.fetchone() != (0,):
                    return True
            self._thread.join(0.02)
        return False

    def end(self) -> Any:
        """Wait for the step's end; returns its result, or raises its error."""
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self.fault:
            raise self.fault
        return self._result


def review(client: Client, product: Product, destination: str = NUMBER) -> Any:
    """The page that shows what will be sold."""
    return client.get("/counter/review/", {"product": product.code, "q": destination})


def confirm(client: Client, product: Product, fields: dict[str, Any]) -> Any:
    """Press its button."""
    return client.post("/counter/send/", {**fields, "product": product.code, "confirm": "1"})


class Permit:
    """A permit of a budget without limits."""

    def cancel(self) -> None: ...


class OneAnswer:
    """An upstream's client that gives one answer to every request; an answer without a time cannot be recorded."""

    def __init__(self, data: Transaction, **times: Any) -> None:
        now = timezone.now()
        self.answer = Reply(data=data, raw={}, **{"sent_at": now, "received_at": now, **times})

    def reserve(self, *_: Any, **__: Any) -> Permit:
        return Permit()

    def send(self, *_: Any) -> Reply[Transaction]:
        return self.answer


def send(order: Order, upstream: OneAnswer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the order to an upstream that gives this answer."""
    monkeypatch.setattr(calling, "get_client", lambda: upstream)
    submit(order.pk, call_class=CallClass.INTERACTIVE)


def ask(order: Order, upstream: OneAnswer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll the order; the upstream answers with this status."""
    monkeypatch.setattr(calling, "get_client", lambda: upstream)
    poll(order.pk, call_class=CallClass.INTERACTIVE)
