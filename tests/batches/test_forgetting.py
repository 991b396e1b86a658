"""The typed texts of a batch are deleted after its days; its orders stay, and the database protects the rest."""

import datetime as dt

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from batches.errors import BatchRefused
from batches.models import TEXTS, Batch, BatchRow
from batches.services import again, cancel, forget_old_texts, mend_all, release, seal_of, settle
from policies.models import Policies
from policies.services import forget
from purchases.models import Order
from testing.orders import Meanwhile
from testing.people import browser_of
from tests.batches.helpers import CASH, checked, released, rows_of, send_all, supervisor
from tests.conftest import Upstream
from tests.core.helpers import has_id

TABLE = "081290000001;10;Sari\n081290000102;20;Budi\n0812;10;Ani\n"
LONG_AGO = timezone.now() - dt.timedelta(days=731)
NOTHING = dict.fromkeys(TEXTS, "")


def aged(batch: Batch, *, created_at: dt.datetime = LONG_AGO, ended_at: dt.datetime | None = LONG_AGO) -> None:
    """Date the end of the batch and its orders back to then, because a test cannot wait for days."""
    Batch.objects.filter(pk=batch.pk).update(created_at=created_at, ended_at=ended_at)
    Order.objects.filter(batch_row__batch=batch).update(final_at=ended_at)


def texts_of(batch: Batch) -> list[dict[str, str]]:
    return [*batch.rows.order_by("line").values(*TEXTS)]


def sold() -> Batch:
    """A batch that has ended: two rows are orders, and one was left out."""
    batch = checked(TABLE)
    mend_all(batch, step="leave_out", line=3, actor=supervisor())
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    send_all(batch)
    return batch


def test_what_was_typed_goes_after_its_days_and_the_orders_stay(upstream: Upstream):
    batch = sold()
    aged(batch, ended_at=timezone.now() - dt.timedelta(days=729))
    assert forget_old_texts() == 0
    aged(batch)
    Order.objects.filter(batch_row__batch=batch, destination="081290000102").update(final_at=timezone.now())
    assert forget_old_texts() == 0, "an order has ended since"
    assert texts_of(batch)[0]["name"] == "Sari"
    aged(batch)
    orders = [*Order.objects.order_by("pk").values()]

    assert forget_old_texts() == 1
    assert forget_old_texts() == 0

    assert texts_of(batch) == [NOTHING] * 3
    assert [row.destination for row in rows_of(batch)] == ["081290000001", "081290000102", ""]
    assert [*Order.objects.order_by("pk").values()] == orders
    batch.refresh_from_db()
    with pytest.raises(BatchRefused, match="kept no longer"):
        again(batch, actor=supervisor())
    page = browser_of("supervisor", username="other").get(batch.get_absolute_url())
    assert has_id(page, "texts-gone")


def test_a_table_that_nobody_released_is_cancelled_and_emptied_unless_there_are_no_days(upstream: Upstream):
    batch, young = checked(TABLE), checked("081290000004;10;Rina\n")
    aged(batch, ended_at=None)
    Policies.objects.create(batch_texts_kept_days=None)
    forget()
    assert forget_old_texts() == 0
    Policies.objects.update(batch_texts_kept_days=730)
    forget()

    assert forget_old_texts() == 1

    batch.refresh_from_db()
    young.refresh_from_db()
    assert (batch.state, young.state) == ("cancelled", "checked")
    assert texts_of(batch) == [NOTHING] * 3
    assert [row.destination for row in rows_of(batch)] == ["", "", ""]


def test_a_table_that_is_released_at_this_moment_runs(upstream: Upstream):
    batch, person = checked(TABLE), supervisor()
    aged(batch, ended_at=None)
    mend_all(batch, step="leave_out", line=3, actor=person)

    with transaction.atomic():
        release(batch, actor=person, seal=seal_of(batch), payment=CASH)
        other = Meanwhile(forget_old_texts)
        assert other.is_blocked_by_us()
    other.end()

    batch.refresh_from_db()
    assert batch.state == "running"
    assert texts_of(batch)[0]["name"] == "Sari"


def test_the_names_stay_while_money_is_to_go_back(upstream: Upstream):
    batch = released("081290000001;10;Sari\n")
    cancel(batch, actor=supervisor())
    aged(batch)

    assert forget_old_texts() == 0
    assert texts_of(batch)[0]["name"] == "Sari"

    settle(batch, actor=supervisor())
    assert forget_old_texts() == 1


def test_of_a_row_that_is_an_order_nothing_but_all_its_texts_may_go(upstream: Upstream):
    batch = released("081290000001;10;Sari\n")
    send_all(batch)
    row = BatchRow.objects.filter(batch=batch)

    for change in ({"typed": "0813"}, {"name": ""}, NOTHING | {"destination": "0813"}):
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            row.update(**change)

    assert row.update(**NOTHING) == 1
