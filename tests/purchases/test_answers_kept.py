"""The outcome in an answer is applied first; its balance is stored afterwards."""

from typing import Any

import pytest

from purchases.models import Incident
from purchases.services.sending import claim
from purchases.states import Status
from reconciliation.services.facts import readings
from testing.factories import reported
from testing.orders import OneAnswer, ask, place, send, sent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("ask_it", [send, ask])
def test_an_answer_that_cannot_be_recorded_is_not_lost(monkeypatch: pytest.MonkeyPatch, ask_it: Any):
    order = place()
    if ask_it is ask:
        claim(order.pk)

    ask_it(order, OneAnswer(reported(order, "success"), sent_at=None), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert not readings().exists()


def test_the_balance_in_an_answer_to_a_sending_is_of_its_time(monkeypatch: pytest.MonkeyPatch):
    order = place()

    send(order, OneAnswer(reported(order, "pending")), monkeypatch)

    order.refresh_from_db()
    assert list(readings().values_list("pk", "ref_id")) == [(order.sent_no, order.ref_id)]


@pytest.mark.parametrize("facts", [{"product_code": "ANOTHER"}, {"destination": "081299999999"}])
def test_an_answer_about_another_purchase_leaves_our_debit_alone(monkeypatch: pytest.MonkeyPatch, facts: Any):
    order = place()

    send(order, OneAnswer(reported(order, "pending", **facts)), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SENDING
    assert Incident.objects.get().kind == Incident.Kind.MISMATCH
    assert not readings().exists()
    assert order.accepted_no is None


def test_a_status_of_another_purchase_says_nothing_of_our_refund(monkeypatch: pytest.MonkeyPatch):
    order = sent()

    ask(order, OneAnswer(reported(order, "pending", product_code="ANOTHER")), monkeypatch)

    order.refresh_from_db()
    assert not readings().exists()
    assert order.pending_no is None
