"""The shop's fee on top of a bill: shown before paying, frozen on the payment, its own line on the receipt."""

from typing import Any

import pytest

from bills.services import pay_bill
from bills.services.acts import BillAct
from catalogue.models import Product
from drawers.services.facts import PaymentFacts
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_biller, make_check, make_payment
from tests.bills.helpers import at_counter
from tests.core.helpers import amounts_at, codes, has_id, hidden, words

pytestmark = pytest.mark.django_db


def _check(fee: int = 2_000, **facts: Any) -> Any:
    return make_check(product=make_biller(fee=fee), **facts)


def test_the_fee_stands_on_the_bill_and_in_what_is_paid_and_one_not_seen_pays_nothing(cashier: Any):
    check = _check(fee=2_500)
    for fields in ({}, {"fee": "2000"}):
        answer = cashier.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total, **fields})
        assert "FeeChanged" in codes(answer)
        assert not Order.objects.exists()

    page = at_counter(cashier, check)

    assert amounts_at(page, 'id="service-fee"') == ["Rp2.500"]
    assert amounts_at(page, 'id="counter-pay"') == ["Rp105.000"]
    assert hidden(page)["amount"] == "102500"
    assert cashier.post(f"/counter/bills/{check.ref_id}/pay/", hidden(page)).status_code == 302
    order = Order.objects.get()
    assert (order.max_price, order.fee, order.selling_price) == (102_500, 2_500, 105_000)


def test_a_paid_bill_keeps_its_fee_when_the_biller_s_changes(cashier: Any):
    check = _check()
    pay_bill(check, amount=check.total, paid_by=None, enqueue=False)
    Product.objects.filter(pk=check.product_id).update(fee=9_000)

    page = at_counter(cashier, check)

    assert amounts_at(page, 'id="service-fee"') == ["Rp2.000"]
    assert "Rp104.500" in words(page)


@pytest.mark.parametrize("status", [Status.FAILED, Status.REVERSED])
def test_given_an_ended_payment_then_every_page_keeps_its_fee(cashier: Any, status: Status):
    check = _check()
    order = make_payment(check, status, fee=2_000, selling_price=104_500)
    Product.objects.filter(pk=check.product_id).update(fee=3_000)

    pages = [cashier.get(address) for address in (f"/orders/{order.ref_id}/", f"/bills/{check.ref_id}/")]
    listed, found = cashier.get("/bills/"), cashier.get("/find/", {"q": check.ref_id})

    assert [amounts_at(page, 'id="service-fee"') for page in pages] == [["Rp2.000"]] * 2
    assert "Rp104.500" in words(listed)
    assert "Rp104.500" in words(found)
    for page in (*pages, listed, found):
        assert not {"Rp3.000", "Rp105.500"} & set(words(page).split())


def test_the_receipt_names_the_fee_and_adds_it_up(cashier: Any):
    check = _check()
    facts = {"fee": 2_000, "selling_price": 104_500, "price": 102_500}
    order = make_payment(check, Status.SUCCESS, **facts)

    page = words(cashier.get(f"/orders/{order.ref_id}/receipt/"))

    assert {"Rp100.000", "Rp2.500", "Rp2.000", "Rp104.500"} <= set(page.split())
    assert "Rp102.500" not in page


def test_without_a_fee_nothing_of_one_is_shown(cashier: Any):
    check = _check(fee=0)

    page = at_counter(cashier, check)

    assert not has_id(page, "service-fee")
    assert amounts_at(page, 'id="counter-pay"') == ["Rp102.500"]


def test_a_second_person_sees_the_fee():
    content = {
        "product_name": "PDAM",
        "product_code": "PDAM",
        "destination": "1",
        "customer_name": "",
        "period": "",
        "price": 102_500,
        "fee": 2_000,
        "expires_at": None,
        "ref_id": "B-1",
        "payment": PaymentFacts().plain,
    }

    lines = {line.name: line.value for line in BillAct().lines(content)}

    assert (lines["price"], lines["fee"], lines["amount"]) == ("Rp102.500", "Rp2.000", "Rp104.500")
    assert BillAct().amount(content) == 104_500
