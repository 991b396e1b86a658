"""The outcome in an answer is applied first; the balance in it is stored afterwards, for what it is."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from gateway.services import calling
from purchases.models import Incident, Order
from purchases.services import poll, submit
from purchases.services.sending import claim
from purchases.states import Status
from reconciliation.services.facts import readings
from tests.factories import reported
from tests.purchases.helpers import place
from upstream.budget import CallClass
from upstream.client import Reply
from upstream.messages import Transaction

pytestmark = pytest.mark.django_db(transaction=True)


class Permit:
    """A permit of a budget without limits."""

    def cancel(self) -> None: ...


class Upstream:
    """Gives one answer to everything; without its time it cannot be recorded."""

    def __init__(self, data: Transaction, **times: Any) -> None:
        now = timezone.now()
        self.answer = Reply(data=data, raw={}, **{"sent_at": now, "received_at": now, **times})

    def reserve(self, *_: Any, **__: Any) -> Permit:
        return Permit()

    def send(self, *_: Any) -> Reply[Transaction]:
        return self.answer


def send(order: Order, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "get_client", lambda: upstream)
    submit(order.pk, call_class=CallClass.INTERACTIVE)


def ask(order: Order, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "get_client", lambda: upstream)
    poll(order.pk, call_class=CallClass.INTERACTIVE)


@pytest.mark.parametrize("ask_it", [send, ask])
def test_an_answer_that_cannot_be_recorded_is_not_lost(monkeypatch: pytest.MonkeyPatch, ask_it: Any):
    order = place()
    if ask_it is ask:
        claim(order.pk)

    ask_it(order, Upstream(reported(order, "success"), sent_at=None), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert not readings().exists()


def test_the_balance_in_an_answer_to_a_sending_is_of_its_time(monkeypatch: pytest.MonkeyPatch):
    order = place()

    send(order, Upstream(reported(order, "pending")), monkeypatch)

    order.refresh_from_db()
    assert list(readings().values_list("pk", "ref_id")) == [(order.sent_no, order.ref_id)]


@pytest.mark.parametrize("facts", [{"product_code": "ANOTHER"}, {"destination": "081299999999"}])
def test_an_answer_about_another_purchase_leaves_our_debit_alone(monkeypatch: pytest.MonkeyPatch, facts: Any):
    order = place()

    send(order, Upstream(reported(order, "pending", **facts)), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SENDING
    assert Incident.objects.get().kind == Incident.Kind.MISMATCH
    assert not readings().exists()
    assert order.accepted_no is None


def test_a_status_of_another_purchase_says_nothing_of_our_refund(monkeypatch: pytest.MonkeyPatch):
    order = place()
    claim(order.pk)

    ask(order, Upstream(reported(order, "pending", product_code="ANOTHER")), monkeypatch)

    order.refresh_from_db()
    assert not readings().exists()
    assert order.pending_no is None
