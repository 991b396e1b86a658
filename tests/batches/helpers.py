"""Batches for tests, checked or released."""

from typing import Any

from batches.models import Batch, BatchRow
from batches.services import check_table, place_rows, release, seal_of
from bills.models import BillCheck
from bills.services import inquire
from drawers.services import PaymentFacts
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from staff.models import User
from testing.people import Browser, make_person
from upstream.budget import CallClass

CASH = PaymentFacts()


def checked(text: str, person: User | None = None, **facts: Any) -> Batch:
    """The batch of this table."""
    return check_table(text, name="staff.csv", actor=person or supervisor(), **facts)[0]


def supervisor() -> User:
    """The supervisor, made once."""
    return User.objects.filter(username="supervisor").first() or make_person("supervisor")


def released(text: str, person: User | None = None, **facts: Any) -> Batch:
    """The batch of this table, released."""
    person = person or supervisor()
    batch = checked(text, person, **facts)
    release(batch, actor=person, seal=seal_of(batch), payment=CASH)
    batch.refresh_from_db()
    return batch


def press_release(browser: Browser, batch: Batch, **more: Any) -> Any:
    """Press the button of the page that shows the batch as it is now."""
    return browser.confirm(f"/batches/{batch.pk}/release/", {"seal": seal_of(batch), "paid_by": "cash", **more})


def ask_all(batch: Batch) -> None:
    """Have all bills checked, as the workers do."""
    for _step in range(20):
        place_rows(batch.pk)
        for check in BillCheck.objects.filter(batch_rows__batch=batch, answer="none"):
            inquire(check.pk, call_class=CallClass.BACKGROUND)
        batch.refresh_from_db()
        if batch.next_at is None:
            return


def send_all(batch: Batch) -> None:
    """Place and send everything, as the workers do; the sandbox's answers come at once."""
    for _step in range(20):
        place_rows(batch.pk)
        for check in BillCheck.objects.filter(batch_rows__batch=batch, answer="none"):
            inquire(check.pk, call_class=CallClass.BACKGROUND)
        placed = list(Order.objects.filter(batch_row__batch=batch, status=Status.QUEUED))
        for order in placed:
            submit(order.pk, call_class=CallClass.BACKGROUND)
        for order in placed:  # all of them are in progress meanwhile
            follow(order, seconds=30)
        batch.refresh_from_db()
        if batch.state != "running":
            return


def rows_of(batch: Batch) -> list[BatchRow]:
    """The batch's rows, by line."""
    return list(BatchRow.objects.for_table().filter(batch=batch).order_by("line"))
