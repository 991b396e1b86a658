"""One statement finds the due work of all rooms."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from backoffice.tasks import SOURCES
from gateway.dispatching import first_moments
from gateway.line import Work
from purchases.services import DUE_ORDERS
from reconciliation.models import Reconciliation
from reconciliation.services import DUE_READING
from testing.factories import make_order

pytestmark = pytest.mark.django_db


def test_the_first_due_time_of_each_room_takes_one_statement(django_assert_num_queries: Any):
    soon, later = (timezone.now() + dt.timedelta(minutes=minutes) for minutes in (1, 2))
    for due in (later, soon):
        make_order("queued", next_poll_at=due)
    Reconciliation.objects.create(read_again_at=later)

    with django_assert_num_queries(1):
        moments = first_moments(SOURCES)

    assert moments == [(DUE_ORDERS, soon), (DUE_READING, later)]


def test_a_reading_that_is_due_is_handed_out_once():
    Reconciliation.objects.create(read_again_at=timezone.now() - dt.timedelta(seconds=1))

    assert [DUE_READING.take(20) for _ in range(2)] == [[Work("reconciliation.tasks.read_balance", 1)], []]
    assert first_moments(SOURCES) == []
