"""One statement finds the due work of all rooms."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from backoffice.tasks import SOURCES
from gateway.dispatching import first_moments
from gateway.line import Work
from purchases.services import DUE_ORDERS
from reconciliation.models import Reconciliation
from reconciliation.services import DUE_READING
from reconciliation.tasks import read_balance
from testing.factories import make_order
from tests.conftest import Upstream

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


def test_a_new_shop_asks_for_its_balance_right_after_the_first_minute(
    upstream: Upstream, settings: Any, monkeypatch: Any
):
    monkeypatch.setattr("gateway.services.calling._PATIENCE_SECONDS", 0.0)
    settings.UPSTREAM_SECRET_ID = f"new-{uuid.uuid4().hex}"  # a budget of its own, without any known call

    read_balance()

    due = Reconciliation.objects.get().read_again_at
    assert due is not None
    assert timezone.now() < due <= timezone.now() + dt.timedelta(seconds=61)
