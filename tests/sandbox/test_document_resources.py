"""Resources and their fields; states and transitions; envelopes (document, sections of those names)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import BILL, PHONE, balance, buy, check_bill, error_of, final, movements, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]
FIELDS = {
    "trx_id",
    "ref_id",
    "product_code",
    "product_name",
    "destination",
    "price",
    "status",
    "sn",
    "message",
    "balance",
}


@pytest.fixture
def bought(sandbox: SandboxProcess, ref: Ref) -> dict[str, Any]:
    """The Transaction that answered a purchase of Telkomsel 10.000 with a full account."""
    data: dict[str, Any] = buy(sandbox, ref()).json()["data"]
    return data


def test_transaction_has_the_same_shape_for_purchases_and_payments(sandbox: SandboxProcess, ref: Ref) -> None:
    bill = ref()
    check_bill(sandbox, bill)
    assert set(buy(sandbox, ref()).json()["data"]) == FIELDS
    assert set(pay(sandbox, bill).json()["data"]) == FIELDS
    assert set(status(sandbox, bill)) == FIELDS


def test_transaction_trx_id_is_the_services_own_and_unique(sandbox: SandboxProcess, ref: Ref) -> None:
    made = {buy(sandbox, ref()).json()["data"]["trx_id"] for _ in range(5)}
    assert len(made) == 5
    assert all(isinstance(trx_id, str) and trx_id for trx_id in made)


def test_transaction_ref_id_is_the_merchants_and_unique_per_purchase(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id).json()["data"]["ref_id"] == ref_id
    assert error_of(buy(sandbox, ref_id, destination="081298765432")) == (409, "DUPLICATE_REF_ID")
    assert error_of(buy(sandbox, ref_id, product_code="TSEL20")) == (409, "DUPLICATE_REF_ID")
    assert error_of(check_bill(sandbox, ref_id)) == (409, "DUPLICATE_REF_ID")


@pytest.mark.parametrize("ref_id", ["A-z_0.9", "x", "y" * 64])
def test_transaction_ref_id_may_be_1_to_64_safe_characters(sandbox: SandboxProcess, ref_id: str) -> None:
    assert buy(sandbox, ref_id).status_code == 200


@pytest.mark.parametrize("ref_id", ["", "z" * 65, "a b", "a/b", "ä", "a\n", 5, ["a"]])
def test_transaction_ref_id_may_be_nothing_else(sandbox: SandboxProcess, ref_id: Any) -> None:
    assert error_of(buy(sandbox, ref_id)) == (400, "INVALID_REQUEST")


def test_transaction_product_code_is_the_one_asked_for(bought: dict[str, Any]) -> None:
    assert bought["product_code"] == "TSEL10"


def test_transaction_product_name_is_the_products(bought: dict[str, Any]) -> None:
    assert bought["product_name"] == "Telkomsel 10.000"


def test_transaction_destination_is_the_one_asked_for(
    sandbox: SandboxProcess, ref: Ref, bought: dict[str, Any]
) -> None:
    assert bought["destination"] == PHONE
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="7009876")
    assert pay(sandbox, ref_id).json()["data"]["destination"] == "7009876"


def test_transaction_price_is_what_was_deducted(sandbox: SandboxProcess, bought: dict[str, Any]) -> None:
    assert bought["price"] == 10_250
    assert balance(sandbox) == 10_000_000 - 10_250


def test_transaction_price_of_a_bill_is_the_total_deducted(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id).json()["data"]["total"]
    assert pay(sandbox, ref_id).json()["data"]["price"] == total
    assert movements(sandbox, ref_id) == [("debit", -total)]


def test_transaction_status_is_one_of_three(sandbox: SandboxProcess, ref: Ref, bought: dict[str, Any]) -> None:
    failing = ref()
    buy(sandbox, failing, destination="081290000004")
    seen = {
        bought["status"],
        final(sandbox, bought["ref_id"])["status"],
        final(sandbox, failing)["status"],
    }
    assert seen == {"pending", "success", "failed"}


def test_transaction_sn_is_null_until_success(sandbox: SandboxProcess, ref: Ref, bought: dict[str, Any]) -> None:
    failing = ref()
    buy(sandbox, failing, destination="081290000004")
    assert bought["sn"] is None
    assert isinstance(final(sandbox, bought["ref_id"])["sn"], str)
    assert final(sandbox, failing)["sn"] is None


def test_transaction_sn_of_an_electricity_token_has_20_digits(sandbox: SandboxProcess, ref: Ref) -> None:
    sandbox.control("product", product_code="PLN20", cut_off_start=None, cut_off_end=None)
    ref_id = ref()
    buy(sandbox, ref_id, product_code="PLN20", destination="12345678901")
    sn = final(sandbox, ref_id)["sn"]
    assert sn.isdigit()
    assert len(sn) == 20


def test_transaction_message_is_text_for_a_person(sandbox: SandboxProcess, bought: dict[str, Any]) -> None:
    assert bought["message"]
    assert final(sandbox, bought["ref_id"])["message"] != bought["message"]


def test_transaction_balance_is_the_balance_after_the_operation(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id, destination="081290000004").json()["data"]["balance"] == 10_000_000 - 10_250
    assert final(sandbox, ref_id)["balance"] == 10_000_000


def test_inquiry_is_stored_per_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    first = check_bill(sandbox, ref_id).json()
    assert check_bill(sandbox, ref_id).json() == first
    assert error_of(check_bill(sandbox, ref_id, destination="7005555")) == (409, "DUPLICATE_REF_ID")
    assert error_of(buy(sandbox, ref_id)) == (409, "DUPLICATE_REF_ID")


def test_inquiry_total_is_what_a_payment_deducts(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    bill = check_bill(sandbox, ref_id).json()["data"]
    assert bill["total"] == bill["amount"] + bill["admin_fee"] + bill["penalty"]
    assert bill["amount"] == sum(line["amount"] for line in bill["details"])
    before = balance(sandbox)
    pay(sandbox, ref_id)
    assert balance(sandbox) == before - bill["total"]


def test_inquiry_expires_at_ends_its_payability(sandbox: SandboxProcess, ref: Ref) -> None:
    ordinary = datetime.fromisoformat(check_bill(sandbox, ref()).json()["data"]["expires_at"])
    left = (ordinary - datetime.now(ordinary.tzinfo)).total_seconds()
    assert 290 < left <= 301
    ref_id = ref()
    short = datetime.fromisoformat(check_bill(sandbox, ref_id, destination="90000033").json()["data"]["expires_at"])
    eventually(lambda: datetime.now(short.tzinfo) > short)
    assert error_of(pay(sandbox, ref_id)) == (410, "INQUIRY_EXPIRED")


def test_inquiry_can_be_pending_without_money_and_expiry(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    bill = check_bill(sandbox, ref_id, destination="90000032").json()["data"]
    assert bill["status"] == "pending"
    for name in ("amount", "admin_fee", "penalty", "total", "expires_at"):
        assert bill[name] is None, name


def test_inquiry_has_the_other_fields_that_we_decided(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    bill = check_bill(sandbox, ref_id).json()["data"]
    assert set(bill) == {
        "ref_id",
        "product_code",
        "product_name",
        "destination",
        "customer_name",
        "status",
        "amount",
        "admin_fee",
        "penalty",
        "total",
        "period",
        "details",
        "expires_at",
    }
    assert (bill["ref_id"], bill["product_code"], bill["status"]) == (ref_id, BILL, "valid")
    assert set(bill["details"][0]) == {"period", "amount", "penalty"}


def test_other_resources_have_the_fields_that_we_decided(sandbox: SandboxProcess) -> None:
    assert sandbox.call("/v1/balance").json()["data"] == {"balance": 10_000_000}
    category = sandbox.call("/v1/categories").json()["data"]["categories"][0]
    assert category == {"code": "pulsa", "name": "Pulsa", "type": "prepaid"}
    brand = sandbox.call("/v1/brands", category="pulsa").json()["data"]["brands"][0]
    assert brand == {"code": "telkomsel", "name": "Telkomsel", "category": "pulsa"}
    product = sandbox.call("/v1/products", category="token-pln").json()["data"]["products"][0]
    assert product == {
        "product_code": "PLN20",
        "product_name": "Token PLN 20.000",
        "category": "token-pln",
        "brand": "pln",
        "type": "prepaid",
        "price": 20_275,
        "admin_fee": 0,
        "status": "active",
        "description": product["description"],
        "cut_off_start": "23:30",
        "cut_off_end": "00:30",
    }


def test_state_accepted_deducts_and_answers_pending_in_a_success_envelope(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    answer = buy(sandbox, ref_id)
    assert (answer.status_code, answer.json()["status"], answer.json()["data"]["status"]) == (200, "success", "pending")
    assert movements(sandbox, ref_id) == [("debit", -10_250)]


def test_state_success_fills_the_sn_and_is_told_both_ways(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0].body
    assert told["event"] == "transaction.success"
    assert told["data"]["sn"]
    assert status(sandbox, ref_id) == told["data"]


def test_state_failed_refunds_a_bill_payment(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id, destination="90000004").json()["data"]["total"]
    pay(sandbox, ref_id)
    assert final(sandbox, ref_id)["status"] == "failed"
    assert movements(sandbox, ref_id) == [("debit", -total), ("refund", total)]


def test_state_failed_refunds_a_purchase_too(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000004")
    assert final(sandbox, ref_id)["status"] == "failed"
    assert movements(sandbox, ref_id) == [("debit", -10_250), ("refund", 10_250)]
    assert balance(sandbox) == 10_000_000


@pytest.mark.parametrize("first", ["success", "failed"])
def test_state_success_and_failed_are_final(sandbox: SandboxProcess, ref: Ref, first: str) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000003")
    sandbox.control("settle", ref_id=ref_id, status=first)
    before = status(sandbox, ref_id)
    for second in ("success", "failed"):
        with pytest.raises(AssertionError, match="nothing with this ref_id is pending"):
            sandbox.control("settle", ref_id=ref_id, status=second)
    assert status(sandbox, ref_id) == before


def test_inquiry_states_run_from_pending_over_valid_to_expired(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert check_bill(sandbox, ref_id, destination="90000031").json()["data"]["status"] == "pending"
    assert error_of(pay(sandbox, ref_id)) == (409, "INQUIRY_PENDING")
    eventually(lambda: check_bill(sandbox, ref_id, destination="90000031").json()["data"]["status"] == "valid")
    assert pay(sandbox, ref_id).status_code == 200


def test_envelope_of_success(sandbox: SandboxProcess) -> None:
    answer = sandbox.call("/v1/balance")
    body = answer.json()
    assert set(body) == {"code", "status", "message", "data"}
    assert (answer.status_code, body["code"], body["status"]) == (200, 200, "success")
    assert isinstance(body["message"], str)
    assert isinstance(body["data"], dict)


def test_envelope_of_error(sandbox: SandboxProcess, ref: Ref) -> None:
    answer = sandbox.call("/v1/transaction/status", ref_id=ref())
    body = answer.json()
    assert set(body) == {"code", "status", "error_code", "message"}
    assert (answer.status_code, body["code"], body["status"]) == (404, 404, "error")
    assert body["error_code"] == "TRANSACTION_NOT_FOUND"
    assert isinstance(body["message"], str)
