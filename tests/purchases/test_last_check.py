"""An order's page shows the result and the time of its last status request."""

import datetime as dt

import pytest
from django.utils import timezone

from core.times import short_time
from purchases.states import Status
from testing.factories import make_order
from testing.orders import never_arrived, place
from tests.core.helpers import has_id, next_question, words
from tests.gateway.helpers import kept_exchange
from tests.purchases.helpers import detail
from upstream.endpoints import Endpoint

pytestmark = pytest.mark.django_db

NOT_FOUND = "Rejected: TRANSACTION_NOT_FOUND"


def test_the_last_answer_and_its_time_stand_above_the_step(cashier):
    at = timezone.now() - dt.timedelta(minutes=2)
    for facts, answer in (
        ({"error": NOT_FOUND}, "the provider does not find it"),
        ({"error": "OutcomeUnknown: timeout"}, "no reliable answer"),
        ({"status": "pending"}, "the provider is still working on it"),
    ):
        order = make_order(Status.UNKNOWN, sent_at=at - dt.timedelta(minutes=3))
        for minutes in (2, 1):
            kept_exchange(order.ref_id, at - dt.timedelta(minutes=minutes), error="OutcomeUnknown: connection")
        kept_exchange(order.ref_id, at, **facts)
        kept_exchange(order.ref_id, endpoint=Endpoint.TRANSACTION_CREATE, error="OutcomeUnknown: timeout")

        page = detail(cashier, order)

        assert f"Checked {short_time(at)}: {answer}." in words(page)
        html = page.content.decode()
        assert html.index('id="last-check"') < html.index('id="what-now"'), answer


def test_an_open_page_of_what_never_arrived_gets_the_new_answer(admin):
    order = never_arrived(place())
    kept_exchange(order.ref_id, error=NOT_FOUND)
    ask, _delay = next_question(detail(admin, order))
    same = admin.get(ask)
    assert not has_id(same, "order-live")

    kept_exchange(order.ref_id, timezone.now() + dt.timedelta(minutes=2), error="OutcomeUnknown: timeout")
    changed = admin.get(next_question(same)[0])

    assert "no reliable answer" in words(changed)


def test_a_final_order_and_a_check_before_the_last_sending_say_nothing(cashier):
    for status in (Status.SUCCESS, Status.FAILED):
        ended = make_order(status, polls=3)
        kept_exchange(ended.ref_id, error=NOT_FOUND)
        assert not has_id(detail(cashier, ended), "last-check"), status

    order = make_order(Status.UNKNOWN)
    kept_exchange(order.ref_id, order.sent_at - dt.timedelta(seconds=1), error=NOT_FOUND)
    assert not has_id(detail(cashier, order), "last-check")
    kept_exchange(order.ref_id, order.sent_at + dt.timedelta(seconds=1), error=NOT_FOUND)
    assert "does not find it." in words(detail(cashier, order))


def test_not_found_answers_are_counted_once_on_the_page(cashier):
    order = make_order(Status.UNKNOWN, polls=4, not_found_count=3, sent_no=1)
    for _ in range(4):
        kept_exchange(order.ref_id, error=NOT_FOUND)

    shown = words(detail(cashier, order))

    assert "3 answers" in shown
    assert "does not find it." in shown
