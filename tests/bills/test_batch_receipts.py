"""One paper for all paid bills of a batch."""

import uuid

import pytest

from drawers.models import Payment
from purchases.models import ReceiptPrint
from purchases.states import Status
from testing.database import past_triggers
from testing.factories import make_biller, make_check, make_payment
from testing.people import browser_of
from tests.core.helpers import codes
from tests.shop.helpers import message_of, papers_of, save, text_of

pytestmark = pytest.mark.django_db


def make_batch(*statuses):
    batch = uuid.uuid4()
    orders = []
    for n, status in enumerate(statuses):
        biller = make_biller(code=f"B{batch.hex[:8]}{n}", name=f"PDAM {n}", category=f"pdam-{n}", brand=f"pdam-{n}")
        check = make_check(product=biller, destination=f"1234567{n}", batch=batch)
        if status:
            sn = f"PAY-{n}" if status == Status.SUCCESS else ""
            orders.append(make_payment(check, status, price=102_500, sn=sn))
    return f"/bills/batch/{batch}/receipt/", orders


def test_all_paid_bills_stand_on_one_paper_and_in_one_text_with_their_sum(cashier):
    address, orders = make_batch(Status.SUCCESS, Status.FAILED, Status.SUCCESS, Status.PENDING, None)

    page = cashier.get(address)

    lines = message_of(page).splitlines()
    assert [line for line in lines if line[:3] in {"1. ", "2. ", "3. "}] == ["1. PDAM 0", "2. PDAM 2"]
    assert [line for line in lines if line.startswith("Ref: ")] == [f"Ref: {orders[n].ref_id}" for n in (0, 2)]
    assert "TOTAL OF ALL: Rp205.000" in lines
    assert "SN: PAY-2" in lines
    assert 'href="https://wa.me/?text=' in page.content.decode()
    assert not ReceiptPrint.objects.exists()

    [paper] = papers_of(cashier.post(address, {"paper": "80"}, follow=True))

    for fact in ("PDAM 0", "PAY-0", "PDAM 2", "PAY-2", "TOTAL OF ALL Rp205.000"):
        assert fact in text_of(paper)
    assert "PDAM 1" not in paper
    assert "PDAM 3" not in paper
    printed = ReceiptPrint.objects.order_by("order")
    assert [(receipt.order.ref_id, receipt.number, receipt.paper) for receipt in printed] == [
        (orders[0].ref_id, 1, "80"),
        (orders[2].ref_id, 1, "80"),
    ]
    assert len({receipt.sheet for receipt in printed}) == 1


def test_the_paper_of_bills_paid_by_card_has_the_number_of_its_slip(cashier):
    address, orders = make_batch(Status.SUCCESS, Status.SUCCESS)
    paid = Payment.objects.filter(ref_id__in=[order.ref_id for order in orders])
    with past_triggers():
        paid.update(method="card", is_cash=False, cash_given=None, reference="004217")

    [paper] = papers_of(cashier.get(address))

    assert text_of(paper).count("004217") == 1


def test_only_what_was_printed_before_says_copy(cashier):
    address, [first, second] = make_batch(Status.SUCCESS, Status.SUCCESS)
    cashier.post(f"/orders/{first.ref_id}/receipt/", {"paper": "58"})

    [paper] = papers_of(cashier.post(address, {"paper": "58"}, follow=True))

    parts = paper.split('<section class="struk-part"')[1:]
    assert ["data-copy-mark" in part for part in parts] == [True, False]
    assert 'id="struk-printed"' in paper
    assert first.ref_id in parts[0]
    assert second.ref_id in parts[1]


def test_a_sheet_keeps_the_shop_of_its_day(admin, cashier):
    save(admin)
    address, _orders = make_batch(Status.SUCCESS, Status.SUCCESS)
    sheet = cashier.post(address, {"paper": "58"}).headers["Location"]

    save(admin, name="Toko Jaya")

    assert "Toko Maju" in papers_of(cashier.get(sheet))[0]


def test_one_paid_bill_has_the_text_and_the_receipt_of_its_order(cashier):
    address, [order, _open] = make_batch(Status.SUCCESS, Status.PENDING)

    text, text_of_order = (message_of(cashier.get(path)) for path in (address, f"/orders/{order.ref_id}/receipt/"))
    answer = cashier.post(address, {"paper": "58"})

    assert text == text_of_order
    assert answer.headers["Location"] == f"/orders/{order.ref_id}/receipt/1/"


def test_a_batch_without_a_paid_bill_has_no_paper(cashier):
    address, _orders = make_batch(Status.PENDING, Status.FAILED)

    assert codes(cashier.get(address, follow=True)) == {"no_receipt"}
    assert codes(cashier.post(address, follow=True)) == {"no_receipt"}
    assert not ReceiptPrint.objects.exists()
    for unknown in (f"/bills/batch/{uuid.uuid4()}/receipt/", f"/orders/sheets/{uuid.uuid4()}/"):
        assert cashier.get(unknown).status_code == 404


def test_an_auditor_looks_at_the_paper_and_prints_none():
    address, _orders = make_batch(Status.SUCCESS, Status.SUCCESS)
    auditor = browser_of("auditor")

    page = auditor.get(address)

    assert (len(papers_of(page)), message_of(page)) == (1, "")  # no text without full numbers
    assert auditor.post(address, {"paper": "58"}).status_code == 403
    assert not ReceiptPrint.objects.exists()


def test_a_sheet_of_many_takes_few_queries(cashier, django_assert_max_num_queries):
    address, _orders = make_batch(*[Status.SUCCESS] * 12)
    sheet = cashier.post(address, {"paper": "58"}).headers["Location"]
    for page in (address, sheet):
        with django_assert_max_num_queries(9):
            cashier.get(page)
