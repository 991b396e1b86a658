"""After a restore: a released batch waits for a person, and sends no row again that was sent in the lost time."""

import pytest

from batches.models import Batch
from batches.services import cancel, mend_all, place_rows, release, resume, seal_of
from bills.services import pay_bill, take_in_lost
from catalogue.models import Product
from gateway.services import open_restored
from ledger.models import Entry
from purchases.models import LostOrder, Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from staff.models import User
from tests.batches.helpers import CASH, ask_all, checked, released, rows_of, send_all, supervisor
from tests.bills.helpers import expire
from tests.conftest import Upstream
from tests.purchases.magic import Lost, ended
from upstream.budget import CallClass

pytestmark = pytest.mark.usefixtures("sent_folder")


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


def bill_released() -> Batch:
    """A batch of one bill, released for the total of its biller and paid in cash."""
    batch = checked("531290000001;PLNPASCA;Sari\n")
    ask_all(batch)
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=CASH)
    return batch


def paid_once(upstream: Upstream) -> Order:
    """The only order, at its end; asserts that one request paid the bill, and what the books have."""
    order = ended(Order.objects.get())
    assert order.status == Status.SUCCESS
    assert upstream.calls(order, "pay") == ["/v1/bill/pay"]
    assert upstream.ledger(order) == [("debit", -order.price)]
    entries = Entry.objects.filter(ref_id=order.ref_id).order_by("pk")
    assert [*entries.values_list("kind", "amount")] == [(kind, order.price) for kind in ("hold", "release", "debit")]
    return order


@pytest.mark.parametrize("has_expired", [False, True])
def test_a_bill_paid_in_the_lost_time_is_its_row_s_payment(upstream: Upstream, owner: User, has_expired):
    # given: the row's check pays the bill, or a newer one because that has expired
    batch = bill_released()
    [row] = rows_of(batch)
    assert row.bill_check
    with Lost():
        if has_expired:
            expire(row.bill_check)
        send_all(batch)
    if has_expired:
        expire(row.bill_check)
    open_shop(owner, batch)

    send_all(batch)

    order = paid_once(upstream)
    [placed] = rows_of(batch)
    assert (placed.state, placed.fault, placed.order, placed.bill_check) == ("placed", "", order, order.bill_check)
    assert (placed.bill_check == row.bill_check) is not has_expired
    assert (batch.state, batch.owes_back, batch.rows.never_ordered()["pays"]) == ("ended", False, 0)


@pytest.mark.parametrize("release_one", [bill_released, lambda: released("081290000001;10\n")])
def test_cancelled_after_a_restore_then_nothing_sold_is_owed(upstream: Upstream, owner: User, release_one):
    batch = release_one()
    with Lost():
        send_all(batch)
    batch.refresh_from_db()

    assert cancel(batch, actor=owner) == 0

    [row] = rows_of(batch)
    batch.refresh_from_db()
    assert (row.state, row.order) == ("placed", Order.objects.get())
    assert (batch.state, batch.owes_back) == ("cancelled", False)


def test_a_bill_that_the_counter_paid_in_the_lost_time_is_still_owed(upstream: Upstream, owner: User):
    batch = bill_released()
    check = rows_of(batch)[0].bill_check
    assert check
    with Lost():
        order = pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)
        submit(order.pk, call_class=CallClass.BACKGROUND)
    open_shop(owner, batch)

    send_all(batch)

    paid_once(upstream)
    [row] = rows_of(batch)
    assert (row.state, row.order) == ("refused", None)
    assert (batch.state, batch.owes_back) == ("ended", True)
    assert batch.rows.never_ordered() == {"count": 1, "pays": row.selling_price}


def test_given_a_restore_then_an_unreleased_batch_asks_nothing(upstream: Upstream):
    batch = checked("081290000001;10\n")
    with Lost():
        pass

    place_rows(batch.pk)

    row = batch.rows.get()
    assert upstream.control("requests", ref_id=row.ref_id)["requests"] == []
    assert (row.state, Order.objects.exists()) == ("ready", False)
