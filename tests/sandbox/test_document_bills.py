"""Inquiries and /v1/bill/pay (document, Bill inquiry result and /v1/bill/pay), statement by statement."""

from datetime import UTC, datetime

import pytest

from testing.sandbox_process import eventually
from tests.sandbox.calls import BILL, CUSTOMER, PAY, PRODUCT, data_of, error_of, new_ref

RESULT = {
    "ref_id", "product_code", "product_name", "destination", "customer_name", "status", "amount", "admin_fee",
    "penalty", "total", "period", "details", "expires_at",
}  # fmt: skip
PAID_BEFORE = (422, "BILL_ALREADY_PAID")


@pytest.fixture
def bill(sandbox):
    """A valid inquiry of an ordinary customer."""
    return data_of(sandbox.inquire())


def test_inquiry_has_the_fields_that_we_decided(sandbox):
    ref_id = new_ref()

    bill = data_of(sandbox.inquire(ref_id))

    assert set(bill) == RESULT
    assert (bill["ref_id"], bill["product_code"], bill["destination"]) == (ref_id, BILL, CUSTOMER)
    assert bill["status"] == "valid"
    assert set(bill["details"][0]) == {"period", "amount", "penalty"}
    assert bill["amount"] == sum(line["amount"] for line in bill["details"])
    assert bill["total"] == bill["amount"] + bill["admin_fee"] + bill["penalty"] > 0
    assert sandbox.movements(ref_id) == []


def test_inquiry_is_stored_per_ref_id(sandbox, bill):
    assert data_of(sandbox.inquire(bill["ref_id"])) == bill


def test_inquiry_is_payable_for_five_minutes(bill):
    left = (datetime.fromisoformat(bill["expires_at"]) - datetime.now(UTC)).total_seconds()

    assert 290 < left <= 301


def test_inquiry_that_is_pending_has_no_money_and_no_expiry(sandbox):
    bill = data_of(sandbox.inquire(number=32))

    assert bill["status"] == "pending"
    assert {bill[name] for name in ("amount", "admin_fee", "penalty", "total", "expires_at")} == {None}


def test_inquiry_that_was_valid_says_that_it_has_expired(sandbox):
    ref_id = new_ref()
    bill = data_of(sandbox.inquire(ref_id, 33))

    late = eventually(lambda: (again := data_of(sandbox.inquire(ref_id, 33)))["status"] == "expired" and again)

    assert late == bill | {"status": "expired"}


def test_inquiry_of_a_prepaid_product_is_refused(sandbox):
    assert error_of(sandbox.inquire(product_code=PRODUCT)) == (404, "PRODUCT_NOT_FOUND")


def test_pay_requires_secret_id_signature_and_ref_id(sandbox, bill):
    for missing in ("secret_id", "signature", "ref_id"):
        body = sandbox.signed(PAY, ref_id=bill["ref_id"])
        del body[missing]

        assert error_of(sandbox.post(PAY, body)) == (400, "INVALID_REQUEST"), missing


def test_pay_amount_may_be_left_out_and_must_be_the_total(sandbox, bill):
    ref_id, total, before = bill["ref_id"], bill["total"], sandbox.balance()
    for wrong in (1, total - 1, total + 1):
        assert error_of(sandbox.pay(ref_id, amount=wrong)) == (409, "AMOUNT_MISMATCH")
    assert (sandbox.balance(), sandbox.movements(ref_id)) == (before, [])

    assert sandbox.pay(ref_id).status_code == 200


def test_pay_1_2_deducts_the_total_and_answers_pending(sandbox, bill):
    before = sandbox.balance()

    paid = data_of(sandbox.pay(bill["ref_id"], amount=bill["total"]))

    assert (paid["ref_id"], paid["destination"], paid["price"]) == (bill["ref_id"], CUSTOMER, bill["total"])
    assert (paid["status"], paid["sn"], paid["balance"]) == ("pending", None, before - bill["total"])
    assert sandbox.final(bill["ref_id"])["sn"]
    assert sandbox.balance() == before - bill["total"]


def test_pay_5_a_repeat_returns_the_payment_charged_once(sandbox, bill):
    ref_id, total = bill["ref_id"], bill["total"]
    first = data_of(sandbox.pay(ref_id, amount=total))
    assert data_of(sandbox.pay(ref_id, amount=total))["trx_id"] == first["trx_id"]

    sandbox.final(ref_id)

    assert data_of(sandbox.pay(ref_id)) == sandbox.status(ref_id)
    assert error_of(sandbox.pay(ref_id, amount=total + 1)) == (409, "AMOUNT_MISMATCH")
    assert sandbox.movements(ref_id) == [("debit", -total)]


def test_pay_5_a_bill_paid_once_is_refused_under_another_ref_id(sandbox, bill):
    second = new_ref()
    sandbox.inquire(second)
    assert sandbox.pay(bill["ref_id"]).status_code == 200

    assert error_of(sandbox.pay(second)) == PAID_BEFORE

    assert sandbox.movements(second) == []
    sandbox.final(bill["ref_id"])
    assert error_of(sandbox.inquire()) == PAID_BEFORE


def test_pay_8_without_an_inquiry_there_is_no_bill(sandbox, bill):
    bought = new_ref()
    sandbox.buy(bought)
    before = sandbox.balance()

    for ref_id in (new_ref(), bought, bill["ref_id"].lower()):
        assert error_of(sandbox.pay(ref_id)) == (404, "BILL_NOT_FOUND")

    assert sandbox.balance() == before
