"""The list of bills due, the day of a number, and each person's view and acts."""

import datetime as dt
import re
from urllib.parse import unquote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bills.models import BillCheck
from catalogue.models import Product
from core.times import day_words, short_day
from customers.models import SavedNumber
from dues.models import COLLECT_WITHIN, DueBill, DueState, FollowedNumber, day_in
from purchases.models import Order
from purchases.states import ActionReason, Status
from testing.database import undone
from testing.factories import make_biller, make_check, make_payment
from testing.people import browser_of
from tests.customers.helpers import make_customer
from tests.dues.helpers import due_bill, followed

pytestmark = pytest.mark.django_db


def rows(browser, query: str = "") -> list[str]:
    page = browser.get(f"/due/{query}").content.decode()
    return re.findall(r'<tr id="row-(\d+)"', page)


def test_the_list_shows_total_fine_and_sum_and_a_text_for_the_customer(cashier):
    bill = due_bill("1234567890", fine_on="2099-11-20")
    SavedNumber.objects.create(customer=bill.number.customer, destination="081234567890", kind="phone")

    page = cashier.get("/due/").content.decode()

    assert rows(cashier) == [str(bill.pk)]
    assert 'id="due-sum" data-amount="102500"' in page
    text = unquote(re.search(r'data-whatsapp href="([^"]+)"', page).group(1))
    assert "/6281234567890?text=" in text
    assert "Rp102.500" in text
    assert "2099" in text


def test_a_billers_number_that_looks_like_a_phone_gets_no_text(cashier):
    due_bill("0812345678")

    page = cashier.get("/due/").content.decode()

    assert re.search(r'data-whatsapp href="https://wa.me/([^"?]*)\?', page).group(1) == ""


def test_a_customers_page_says_the_amount_of_an_open_bill(cashier):
    bill = due_bill("1234567890")

    page = cashier.get(bill.number.customer.get_absolute_url()).content.decode()

    assert re.findall(r'data-due-amount="(\d+)"', page) == [str(bill.to_pay)] == ["102500"]
    make_payment(bill.bill_check, Status.PENDING)
    assert "data-due-amount" not in cashier.get(bill.number.customer.get_absolute_url()).content.decode()


def test_after_a_failed_payment_row_text_and_sum_have_the_present_fee(cashier):
    bill = due_bill("1234567890")
    make_payment(bill.bill_check, Status.FAILED, fee=2_000, selling_price=104_500)
    Product.objects.filter(pk=bill.number.product_id).update(fee=3_000)

    page = cashier.get("/due/").content.decode()

    assert 'id="due-sum" data-amount="105500"' in page
    assert re.findall(rf'value="{bill.number_id}"[^>]*data-amount="(\d+)"', page) == ["105500"]
    assert "Rp105.500" in unquote(re.search(r'data-whatsapp href="([^"]+)"', page).group(1))
    assert "104.500" not in page
    # then: an ended bill keeps the fee of its failed payment
    DueBill.objects.filter(pk=bill.pk).update(outcome=DueState.STOPPED, closed_at=timezone.now())
    page = cashier.get("/due/?state=stopped").content.decode()
    assert rows(cashier, "?state=stopped") == [str(bill.pk)]
    assert "Rp104.500" in page
    assert "105.500" not in page


def test_the_owners_overview_says_how_many_wait_and_how_much_they_owe():
    owner, cashier = browser_of("admin"), browser_of("cashier")
    assert 'id="bills-due"' not in owner.get("/").content.decode()
    due_bill("1234567890"), due_bill("1234567891")
    due_bill("1234567892", answer="refusal", error_code="INVALID_DESTINATION")

    page = owner.get("/").content.decode()

    assert re.search(r'id="bills-due"\s+href="/due/"\s+data-amount="205000">[^<]*\b2\b', page)
    assert 'id="bills-due"' not in cashier.get("/").content.decode()


def test_a_bill_with_an_open_payment_is_being_paid(cashier):
    paying, owed = due_bill("1234567890"), due_bill("1234567891")
    # A night's check is valid for minutes: the counter has paid another check.
    checked = make_check(product=paying.number.product, destination="1234567890")
    for status in (Status.QUEUED, Status.UNKNOWN):
        with undone():
            make_payment(checked, status)
            assert rows(cashier, "?state=paying") == [f"{paying.pk}"], status
    order = make_payment(checked, Status.PENDING)

    page = cashier.get("/due/").content.decode()
    row, other = page.split(f'id="row-{paying.pk}"')[1].split("</tr>")[0], page.split(f'id="row-{owed.pk}"')[1]

    assert (str(DueState.PAYING.label) in row, f'data-payment href="/orders/{order.ref_id}/"' in row) == (True, True)
    assert not any(step in row for step in ("data-pay\n", "data-whatsapp", 'name="number"'))
    assert "data-pay\n" in other
    assert "data-whatsapp" in other
    assert "data-payment" not in other
    assert 'id="due-sum" data-amount="102500"' in page
    assert rows(cashier, "?state=owed") == [f"{owed.pk}"]
    assert rows(cashier, "?state=paying") == [f"{paying.pk}"]
    work = cashier.get("/work/?whose=shop&kind=due").content.decode()
    assert re.findall(r'<tr id="row-due-(\d+)"', work) == [f"{owed.pk}"]


def test_a_payment_that_was_never_charged_and_is_over_leaves_the_bill_unpaid(cashier):
    bill = due_bill("1234567890")
    checked = make_check(product=bill.number.product, destination="1234567890")
    make_payment(checked, Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    assert rows(cashier, "?state=paying") == [f"{bill.pk}"]

    BillCheck.objects.filter(pk=checked.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))

    assert rows(cashier, "?state=owed") == [f"{bill.pk}"]


def test_the_list_is_filtered_by_state_and_number(cashier):
    owed = due_bill("1234567890")
    gone = due_bill("1234567891", answer="refusal", error_code="INVALID_DESTINATION")
    paid = due_bill("1234567892")
    DueBill.objects.filter(pk=paid.pk).update(closed_at=timezone.now(), outcome=DueState.PAID)

    assert rows(cashier) == [str(owed.pk), str(gone.pk)]
    assert rows(cashier, "?state=owed") == [str(owed.pk)]
    assert rows(cashier, "?state=asks") == [str(gone.pk)]
    assert rows(cashier, "?state=paid") == [str(paid.pk)]
    assert rows(cashier, "?q=1234567891") == [str(gone.pk)]


def test_a_followed_bill_that_was_not_checked_yet_is_a_state_of_the_list(cashier):
    today = timezone.localdate()
    waiting = followed("1234567890", day=31, product=make_biller(), first_month=f"{day_in(today, 31)}")
    other = followed("1234567892", day=31, product=make_biller())
    assert 'id="to-waiting" href="?state=waiting"' in cashier.get("/due/").content.decode()
    checked = due_bill("1234567891").number

    empty = cashier.get("/due/?q=9999999999").content.decode()
    page = cashier.get("/due/?state=waiting").content.decode()

    assert rows(cashier, "?state=waiting") == [f"{waiting.pk}", f"{other.pk}"]
    assert rows(cashier, "?state=waiting&q=1234567890") == [f"{waiting.pk}"]
    assert cashier.get("/due/?state=waiting&q=%00").status_code == 200
    assert day_words(day_in(today, 31)) in page
    assert f'id="row-{checked.pk}"' not in page
    assert 'id="due-sum"' not in page + empty


def test_the_list_and_the_work_name_the_same_last_day_of_a_bill(cashier):
    bill = due_bill("1234567890")
    bill.due_on = timezone.localdate()
    bill.save()
    last = bill.due_on + COLLECT_WITHIN

    listed, work = (cashier.get(page).content.decode() for page in ("/due/", "/work/?whose=shop&kind=due"))

    assert (day_words(bill.due_on) in listed, day_words(last) in listed) == (True, True)
    assert f">due {short_day(last)}</time>" in work


def test_more_bills_take_no_more_queries(cashier):
    counts = []
    for numbers in (range(2), range(2, 8)):
        for n in numbers:
            due_bill(f"123456789{n}")
        cashier.get("/due/")  # fills the caches
        with CaptureQueriesContext(connection) as queries:
            cashier.get("/due/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 12


def test_the_ticked_ones_are_checked_for_the_counter_and_not_paid(cashier):
    bills = [due_bill(f"123456789{n}") for n in range(3)]

    answer = cashier.post("/counter/batch/due/", {"number": [bill.number_id for bill in bills[:2]]})

    batch = BillCheck.objects.exclude(batch=None)
    assert {check.saved_number_id for check in batch} == {bill.number_id for bill in bills[:2]}
    assert answer["Location"] == f"/counter/batch/{batch[0].batch}/"
    assert cashier.get(answer["Location"]).context["batch"].customer is None
    assert not Order.objects.exists()
    assert cashier.post("/counter/batch/due/", {"number": ["x"]})["Location"] == "/due/"


def test_a_day_is_set_changed_and_taken_away(cashier):
    number = make_customer("Bu Sari", ("1234567890", make_biller())).numbers.get()
    address = f"/due/{number.pk}/"
    assert address in cashier.get(number.customer.get_absolute_url()).content.decode()

    assert cashier.post(address, {"day": "32"}).status_code == 200
    assert not FollowedNumber.objects.exists()
    cashier.post(address, {"day": "12", "fine_day": "20"})
    assert (number.followed.day, number.followed.fine_day) == (12, 20)
    cashier.post(address, {"day": "5"})
    number.followed.refresh_from_db()
    assert (number.followed.day, number.followed.fine_day) == (5, None)

    cashier.post(f"{address}decide/", {"stop": ""})
    assert not FollowedNumber.objects.exists()


def test_a_person_goes_on_with_a_number_that_is_gone(cashier):
    bill = due_bill("1234567890", answer="refusal", error_code="INVALID_DESTINATION")
    assert f"/due/{bill.number_id}/decide/" in cashier.get("/due/").content.decode()

    cashier.post(f"/due/{bill.number_id}/decide/", {"keep": ""})

    assert FollowedNumber.objects.get().is_kept
    assert DueBill.objects.get().outcome == DueState.GONE


def test_the_bill_before_stands_below_the_total(cashier):
    bill = due_bill("1234567890")
    long_ago = timezone.now() - dt.timedelta(days=31)
    make_check(product=bill.number.product, destination="1234567890", total=90_000, created_at=long_ago)

    assert "Rp90.000" in cashier.get("/due/").content.decode()
