"""A batch is about to pay a bill due: the list and Work say so, before a person pays it by hand."""

import re

import pytest
from django.utils import timezone

from batches.models import Batch
from batches.services import batch_of_due, cancel, pause, place_rows, release, seal_of, tick
from bills.models import BillCheck
from customers.models import SavedNumber
from customers.services import save_number
from dues.models import DueBill
from dues.services import sweep
from staff.models import User
from testing.factories import make_check
from testing.people import Browser, browser_of, make_person, signed_in
from tests.batches.helpers import CASH, ask_all
from tests.conftest import Upstream
from tests.customers.helpers import make_customer
from tests.dues.helpers import due_bill

pytestmark = pytest.mark.django_db

HELD, TICK, PAY, LEADS = "data-held", 'name="number"', "data-pay", "data-holder"


@pytest.fixture
def seller(db: None) -> User:
    return make_person("supervisor")


@pytest.fixture
def bill(upstream: Upstream) -> DueBill:
    return due_bill("1234567890")


@pytest.fixture
def batch(bill: DueBill, seller: User) -> Batch:
    """A checked batch with the bill, not released."""
    batch, _is_new = batch_of_due([bill.number_id], actor=seller)
    ask_all(batch)
    return batch


def marks(browser: Browser, bill: DueBill) -> set[str]:
    """The marks in the bill's row."""
    row = browser.get("/due/").content.decode().split(f'id="row-{bill.pk}"')[1].split("</tr>")[0]
    return {mark for mark in (HELD, TICK, PAY, LEADS) if re.search(rf"{mark}(?![\w-])", row)}


def work_of(browser: Browser) -> str:
    return browser.get("/work/?kind=due&whose=shop").content.decode()


def step_of(browser: Browser, bill: DueBill) -> tuple[str, str]:
    """The address and the word of the bill's next step in Work."""
    step = rf'data-(?:step|at-once) href="([^"]+)">([^<]+)</a>\s*<form method="post" action="/work/due/{bill.pk}/take/"'
    found = re.search(step, work_of(browser))
    assert found is not None
    return found[1], found[2]


def test_given_a_bill_in_a_batch_then_its_row_leads_there_until_it_is_over(bill: DueBill, seller: User, batch: Batch):
    other, browser = due_bill("1234567891"), signed_in(seller)

    assert marks(browser, bill) == {HELD, PAY, LEADS}
    assert marks(browser, other) == {TICK, PAY}
    assert f'data-holder href="/batches/{batch.pk}/"' in browser.get("/due/").content.decode()
    assert f"In batch {batch.pk}" in work_of(browser)
    assert step_of(browser, bill) == (f"/batches/{batch.pk}/", "See the batch")

    release(batch, actor=seller, seal=seal_of(batch), payment=CASH)
    assert marks(browser, bill) == {HELD, LEADS}, "the batch pays it by itself"
    assert step_of(browser, bill) == (f"/batches/{batch.pk}/", "See the batch")
    pause(batch, actor=seller)
    assert marks(browser, bill) == {HELD, LEADS}

    cancel(batch, actor=seller)
    assert marks(browser, bill) == {TICK, PAY}
    assert f"In batch {batch.pk}" not in work_of(browser)
    assert step_of(browser, bill)[1] == "Check and pay"


def test_given_the_batch_of_somebody_else_then_no_link_leads_there_and_unticked_nothing_is_said(
    bill: DueBill, seller: User, batch: Batch
):
    assert marks(browser_of("cashier"), bill) == {HELD, PAY}
    browser = signed_in(seller)
    assert 'id="several"' not in browser.get("/due/").content.decode()  # nothing can be ticked

    tick(batch, actor=seller, ticked=[])

    assert marks(browser, bill) == {TICK, PAY}


def test_given_bills_that_the_batch_has_not_asked_about_yet_then_they_are_in_it(bill: DueBill, seller: User):
    browser = signed_in(seller)
    batch, _is_new = batch_of_due([bill.number_id], actor=seller)  # it asks about ten at a time

    assert marks(browser, bill) == {HELD, PAY, LEADS}

    ask_all(batch)
    release(batch, actor=seller, seal=seal_of(batch), payment=CASH)
    BillCheck.objects.update(expires_at=timezone.now())
    place_rows(batch.pk)  # the check has expired: the biller is asked again
    assert batch.rows.get().bill_check is None
    assert marks(browser, bill) == {HELD, LEADS}


def test_given_two_customers_with_one_number_then_the_bill_of_each_is_in_the_batch(bill: DueBill, seller: User):
    number = make_customer("Pak Budi", (bill.number.destination, bill.number.product)).numbers.get()
    second = DueBill.objects.create(
        number=number, month=bill.month, due_on=bill.due_on, bill_check=bill.bill_check, ask_at=bill.ask_at
    )

    batch_of_due([bill.number_id], actor=seller)

    assert marks(signed_in(seller), bill) == marks(signed_in(seller), second) == {HELD, PAY, LEADS}


def test_given_a_corrected_number_then_its_bill_makes_another_batch(bill: DueBill, seller: User, batch: Batch):
    number = SavedNumber.objects.get(pk=bill.number_id)
    save_number(number, destination="1234567899", product=number.product, kind=number.kind, note="")
    sweep()
    make_check(product=number.product, destination="1234567899")
    sweep()

    other, is_new = batch_of_due([bill.number_id], actor=seller)

    assert is_new
    assert [row.destination for row in other.rows.all()] == ["1234567899"]
    assert batch_of_due([bill.number_id], actor=seller) == (other, False)
