"""The outcome in an answer is applied first; the balance in it is stored afterwards, for what it is."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from balance.models import Reading, Spending
from purchases.models import Incident, Order
from purchases.order_life import Status
from purchases.services import check, checking, sending
from purchases.services.sending import claim
from tests.balance.test_ledger import place
from tests.factories import reported
from upstream.budget import CallClass
from upstream.client import Answer
from upstream.messages import Transaction

pytestmark = pytest.mark.django_db(transaction=True)


class Permit:
    """A permit of a budget without limits."""

    def cancel(self) -> None: ...


class Upstream:
    """Gives one answer to everything; its end may lie before its beginning, as no client's ever does."""

    def __init__(self, data: Transaction, *, took: float = 0.04) -> None:
        now = timezone.now()
        self.answer = Answer(data=data, raw={}, sent_at=now, received_at=now + dt.timedelta(seconds=took))

    def reserve(self, *_: Any, **__: Any) -> Permit:
        return Permit()

    def create_transaction(self, **_: Any) -> Answer[Transaction]:
        return self.answer

    transaction_status = create_transaction


def send(order: Order, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "get_client", lambda: upstream)
    sending.submit(order.pk, call_class=CallClass.INTERACTIVE)


def ask(order: Order, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "get_client", lambda: upstream)
    check(order.pk, call_class=CallClass.INTERACTIVE)


def test_an_accepted_answer_whose_balance_cannot_be_stored_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    order = place()

    with pytest.raises(IntegrityError):
        send(order, Upstream(reported(order, "success"), took=-0.04), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS


def test_a_status_whose_balance_cannot_be_stored_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    order = place()
    claim(order.pk)

    with pytest.raises(IntegrityError):
        ask(order, Upstream(reported(order, "success"), took=-0.04), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS


def test_the_balance_in_the_answer_to_a_sending_is_one_of_its_time(monkeypatch: pytest.MonkeyPatch):
    order = place()

    send(order, Upstream(reported(order, "pending")), monkeypatch)

    assert Reading.objects.get().source == Reading.Source.ORDER


@pytest.mark.parametrize("facts", [{"product_code": "ANOTHER"}, {"destination": "081299999999"}])
def test_an_answer_about_another_purchase_says_nothing_of_our_debit(monkeypatch: pytest.MonkeyPatch, facts: Any):
    order = place()

    send(order, Upstream(reported(order, "pending", **facts)), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SENDING
    assert Incident.objects.get().kind == Incident.Kind.MISMATCH
    assert Reading.objects.get().source == Reading.Source.PAST
    assert Spending.objects.get().charged is None


def test_a_status_of_another_purchase_says_nothing_of_our_refund(monkeypatch: pytest.MonkeyPatch):
    order = place()
    claim(order.pk)

    ask(order, Upstream(reported(order, "pending", product_code="ANOTHER")), monkeypatch)

    assert Reading.objects.get().source == Reading.Source.PAST
    assert Spending.objects.get().pending_seen_at is None
