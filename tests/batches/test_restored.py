"""After a restore: a released batch waits for a person, and sends no row again that was sent in the lost time."""

from pathlib import Path
from typing import Any

import pytest

from batches.models import Batch
from batches.services import mend_all, place_rows, release, resume, seal_of
from bills.services import take_in_lost
from catalogue.models import Product
from gateway.services import open_restored
from purchases.models import LostOrder, Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from staff.models import User
from tests.batches.helpers import CASH, checked, released, rows_of, send_all, supervisor
from tests.conftest import Upstream
from tests.purchases.magic import Lost, ended
from upstream.budget import CallClass


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.SENT_FOLDER = tmp_path / "sent"
    return tmp_path / "sent"


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_superuser("owner")


def open_shop(owner: User, batch: Batch) -> None:
    """Open the shop, and resume the batch."""
    batch.refresh_from_db()
    assert (batch.state, batch.stopped_by) == ("paused", "BatchRefused:restored")
    open_restored(actor=owner)
    resume(batch, actor=owner)


def sent_once(upstream: Upstream, batch: Batch) -> list[str]:
    """The states of the batch's orders; asserts that each was sent once, and charged once if it is a success."""
    states = []
    for row in rows_of(batch):
        assert row.order is not None
        assert upstream.calls(row.order, "create") == ["/v1/transaction/create"]
        if row.order.status == Status.SUCCESS:
            assert upstream.ledger(row.order) == [("debit", -row.order.shown_price)]
        states.append(row.order.status)
    return states


def test_a_row_that_waits_to_be_taken_in_is_not_sent_again(upstream: Upstream, owner: User):
    # given: two equal rows, both sold in the lost time; the second is taken in after the first has ended
    batch = checked("081290000001;10\n081290000001;10\n")
    mend_all(batch, step="meant", actor=supervisor(), fault="twice")
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    with Lost():
        send_all(batch)
    assert LostOrder.objects.filter(order=None).count() == 1
    open_shop(owner, batch)
    ended(Order.objects.get())

    # when: the batch comes to the second row before that
    place_rows(batch.pk)
    place_rows(batch.pk)
    second = Order.objects.latest("pk")
    submit(second.pk, call_class=CallClass.BACKGROUND)
    assert take_in_lost() == 0
    follow(second, seconds=5)
    send_all(batch)

    assert batch.state == "ended"
    assert sent_once(upstream, batch) == [Status.SUCCESS] * 2


def test_without_a_journal_each_row_is_asked_about_first(upstream: Upstream, owner: User, settings, tmp_path):
    # given: one row was sent in the lost time, and its price has changed since; the other row was not sent
    batch = released("081290000001;10\n081290000102;20\n")
    with Lost():
        place_rows(batch.pk)
        submit(Order.objects.earliest("pk").pk, call_class=CallClass.BACKGROUND)
        settings.SENT_FOLDER = tmp_path / "none"
    Product.objects.filter(name="Telkomsel 10.000").update(price=10_300, selling_price=11_000)
    open_shop(owner, batch)

    send_all(batch)

    first, second = (ended(order) for order in Order.objects.order_by("pk"))
    assert (first.attempt, second.attempt) == (1, 1)
    assert upstream.calls(first)[:2] == ["/v1/transaction/create", "/v1/transaction/status"]
    assert upstream.calls(second)[:2] == ["/v1/transaction/status", "/v1/transaction/create"]
    assert sent_once(upstream, batch) == [Status.SUCCESS] * 2


def test_while_the_provider_does_not_say_nothing_is_placed(upstream: Upstream, owner: User, settings, tmp_path):
    batch = released("081290000001;10\n")
    with Lost():
        send_all(batch)
        settings.SENT_FOLDER = tmp_path / "none"
    open_shop(owner, batch)
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"

    place_rows(batch.pk)

    batch.refresh_from_db()
    assert (batch.state, batch.next_at is not None) == ("running", True)
    assert not Order.objects.exists()


def test_what_was_released_in_the_lost_time_is_asked_about(upstream: Upstream, owner: User, settings, tmp_path):
    batch = checked("081290000001;10\n")
    with Lost():
        release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
        send_all(batch)
        settings.SENT_FOLDER = tmp_path / "none"
    open_restored(actor=owner)
    batch.refresh_from_db()
    assert batch.state == "checked"

    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    send_all(batch)

    ended(Order.objects.get())
    assert sent_once(upstream, batch) == [Status.SUCCESS]


def test_given_a_restore_then_an_unreleased_batch_asks_nothing(upstream: Upstream):
    batch = checked("081290000001;10\n")
    with Lost():
        pass

    place_rows(batch.pk)

    row = batch.rows.get()
    assert upstream.control("requests", ref_id=row.ref_id)["requests"] == []
    assert (row.state, Order.objects.exists()) == ("ready", False)
