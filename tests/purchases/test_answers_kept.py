"""The outcome in an answer is applied first; its balance is stored afterwards."""

import pytest

from purchases.models import Incident
from purchases.services.sending import claim
from purchases.states import Status
from reconciliation.services.facts import readings
from testing.factories import reported
from testing.orders import OneAnswer, ask, place, send, sent

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_answer_that_cannot_be_recorded_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    for ask_it in (send, ask):
        order = place()
        if ask_it is ask:
            claim(order.pk)

        ask_it(order, OneAnswer(reported(order, "success"), sent_at=None), monkeypatch)

        order.refresh_from_db()
        assert order.status == Status.SUCCESS, ask_it
        assert not readings().exists(), ask_it


def test_the_balance_in_an_answer_to_a_sending_is_of_its_time(monkeypatch: pytest.MonkeyPatch):
    order = place()

    send(order, OneAnswer(reported(order, "pending")), monkeypatch)

    order.refresh_from_db()
    assert list(readings().values_list("pk", "ref_id")) == [(order.sent_no, order.ref_id)]


def test_an_answer_about_another_purchase_leaves_our_debit_and_refund_alone(monkeypatch: pytest.MonkeyPatch):
    for facts in ({"product_code": "ANOTHER"}, {"destination": "081299999999"}):
        order = place()

        send(order, OneAnswer(reported(order, "pending", **facts)), monkeypatch)

        order.refresh_from_db()
        assert (order.status, order.accepted_no) == (Status.SENDING, None), facts
        assert order.incidents.get().kind == Incident.Kind.MISMATCH, facts
        assert not readings().exists(), facts

    order = sent()
    ask(order, OneAnswer(reported(order, "pending", product_code="ANOTHER")), monkeypatch)

    order.refresh_from_db()
    assert order.pending_no is None
    assert not readings().exists()
