"""Due times go by the database's clock, also if this machine's clock is wrong."""

import contextlib
import datetime as dt
import time
from dataclasses import replace

import pytest
import time_machine
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from bills.models import BillCheck
from callbacks.models import Callback
from callbacks.services import forget_old_bodies, receive
from core import clock
from earnings.models import SummedDay
from earnings.tasks import sum_days
from exports.models import Export
from gateway.polling import in_seconds
from ledger.models import ClosedDay
from ledger.services import close_days
from purchases.models import Order
from purchases.services import Action, allowed_actions, propose_verdict
from testing.database import past_triggers
from testing.factories import make_check, make_order
from testing.people import make_person
from tests.earnings.helpers import sold
from tests.gateway.helpers import kept_exchange
from tests.ledger.helpers import open_books, spend
from workbench.services.forgetting import forget_old_exchanges

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _travelling():
    """Leave the database's clock as it is in these tests."""


@pytest.fixture(autouse=True)
def _unread(monkeypatch):
    monkeypatch.setattr(clock, "_latest", [])


def database_time() -> dt.datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def test_a_wrong_machine_clock_moves_no_due_time(monkeypatch):
    for wrong in (-HOUR, HOUR):
        monkeypatch.setattr(clock, "_latest", [])
        with time_machine.travel(timezone.now() + wrong, tick=True):
            late = clock.now()
            due = in_seconds(10)

        assert abs(late - database_time()) < dt.timedelta(seconds=5), wrong
        assert abs(due - database_time() - dt.timedelta(seconds=10)) < dt.timedelta(seconds=5), wrong


def test_a_machine_whose_clock_is_ahead_takes_and_forgets_nothing_early():
    make_order("queued", next_poll_at=timezone.now() + HOUR / 2)
    person = make_person("owner", username="files")
    facts = {"list_name": "statement", "task": "", "permission": "", "file_format": "csv"}
    written = Export.objects.create(
        owner=person, state="writing", next_try_at=timezone.now() + dt.timedelta(minutes=2), **facts
    )
    pk = receive(body=b"{}", headers={}, source_address=None, is_signed=True, ref_id="", event="x")
    long_ago = timezone.now() - dt.timedelta(days=100)
    with past_triggers():
        Callback.objects.filter(pk=pk).update(state="applied", received_at=long_ago, processed_at=long_ago)
    kept_exchange("YOUNG", at=timezone.now() - dt.timedelta(days=90) + HOUR / 2)

    with time_machine.travel(timezone.now() + HOUR, tick=True):
        assert not Order.objects.due(clock.now()).exists()
        assert not Export.objects.due().filter(pk=written.pk).exists()
        assert (forget_old_bodies(), forget_old_exchanges()) == (1, 0)


def test_a_machine_whose_clock_is_a_day_ahead_closes_no_running_day():
    # given: the books and an order of this day
    open_books()
    spend(10_000)
    sold(timezone.now())

    with time_machine.travel(timezone.now() + 26 * HOUR, tick=True):
        close_days()
        sum_days()

    assert not ClosedDay.objects.exists()
    assert not SummedDay.objects.exists()


def test_a_wrong_machine_clock_neither_ends_nor_prolongs_a_bill(monkeypatch):
    for wrong, valid_for, standing in ((HOUR, 5, "payable"), (-HOUR, -1, "expired")):
        check = make_check(expires_at=timezone.now() + dt.timedelta(minutes=valid_for))
        monkeypatch.setattr(clock, "_latest", [])

        with time_machine.travel(timezone.now() + wrong, tick=True):
            assert BillCheck.objects.with_standing().get(pk=check.pk).now_standing == standing


def test_a_proposal_from_a_machine_whose_clock_lags_counts():
    first, second = make_person("admin", username="first"), make_person("admin", username="second")
    order = make_order("unknown", sent_at=timezone.now() - 2 * HOUR)

    with time_machine.travel(timezone.now() - 3 * HOUR, tick=True):
        propose_verdict(order, outcome="failed", evidence="their dashboard", reason="x", actor=first)

    assert Action.APPROVE_VERDICT in allowed_actions(Order.objects.get(), second)


def test_the_clock_asks_the_database_once_a_minute(django_assert_num_queries, monkeypatch):
    counter = [100.0]
    monkeypatch.setattr(clock.time, "clock_gettime", lambda _clock: counter[0])
    with django_assert_num_queries(0):
        first = clock.now()
    counter[0] += 59

    assert clock.now() - first == dt.timedelta(seconds=59)

    counter[0] += 2
    assert clock.now() - first < dt.timedelta(seconds=30), "it was read again"


def test_a_machine_that_slept_asks_the_database_again(monkeypatch):
    # given: it slept for eight hours, in which the monotonic clock of Linux stood still
    clock.now()
    awake, of_boot = time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
    monkeypatch.setattr(clock.time, "monotonic", lambda: awake)
    monkeypatch.setattr(clock.time, "clock_gettime", lambda _clock: of_boot + 8 * 3600)
    monkeypatch.setattr(clock, "_latest", [replace(clock._latest[0], at=clock._latest[0].at - 8 * HOUR)])

    assert abs(clock.now() - database_time()) < dt.timedelta(seconds=5)


def test_in_a_failed_transaction_the_last_reading_goes_on(monkeypatch):
    first = clock.now()
    monkeypatch.setattr(clock, "_READ_EVERY", 0.0)

    with transaction.atomic():
        point = transaction.savepoint()
        with contextlib.suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("SELECT nonsense")

        assert clock.now() >= first

        transaction.savepoint_rollback(point)
