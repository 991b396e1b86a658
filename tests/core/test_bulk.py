"""One statement writes many rows, each with its own values."""

import datetime as dt

import pytest
from django.db import DataError, transaction

from core.bulk import insert_rows, update_rows
from purchases.models import Order, OrderEvent
from purchases.states import Status
from testing.database import statements
from testing.factories import make_order

pytestmark = pytest.mark.django_db


def test_each_row_gets_its_own_values_and_keeps_the_rest():
    orders = [make_order(Status.PENDING, destination=f"0812345678{i:02d}", sn="before") for i in range(3)]
    at = dt.datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC)
    for number, order in enumerate(orders):
        order.polls, order.message, order.sn = number, f"it's {number} \\ {{,}}", "not written"
        order.price = None if number == 1 else number
        order.next_poll_at = at + dt.timedelta(hours=number)

    with statements() as sent:
        update_rows(orders, ("polls", "message", "price", "next_poll_at"))

    assert len(sent) == 1
    for number, order in enumerate(Order.objects.order_by("pk")):
        assert (order.polls, order.message, order.sn) == (number, f"it's {number} \\ {{,}}", "before")
        assert order.price == (None if number == 1 else number)
        assert order.next_poll_at == at + dt.timedelta(hours=number)


def test_a_text_that_is_too_long_is_refused_not_cut():
    order = make_order(Status.PENDING)
    order.error_code = "X" * 41

    with pytest.raises(DataError), transaction.atomic():
        update_rows([order], ("error_code",))

    with statements() as sent:  # no rows are no statement
        update_rows([], ("polls",))
        insert_rows([])
    assert not sent


def test_new_rows_are_stored_as_they_are():
    order = make_order(Status.PENDING)
    raw = {"a": ["it's", None, 1], "%s": "\\ {,}"}
    rows = [OrderEvent(order=order, to_status="pending", source="poll", note=f"{i} %s", raw=raw) for i in range(3)]
    rows[1].raw = None

    with statements() as sent:
        insert_rows(rows)

    assert len(sent) == 1
    stored = list(order.events.filter(source="poll").order_by("pk"))
    assert [event.note for event in stored] == ["0 %s", "1 %s", "2 %s"]
    assert [event.raw for event in stored] == [raw, None, raw]
    assert [event.at for event in stored] == [event.at for event in rows]
    assert {(event.facts == {}, event.actor, event.from_status) for event in stored} == {(True, None, "")}
