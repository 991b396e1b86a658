"""POST /v1/bill/pay and the other endpoints (document, Endpoints), statement by statement."""

from collections.abc import Callable

import pytest

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import BILL, balance, buy, check_bill, error_of, final, movements, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]


def test_pay_parameter_secret_id_is_required(sandbox: SandboxProcess, ref: Ref) -> None:
    body = sandbox.signed("/v1/bill/pay", ref_id=ref())
    del body["secret_id"]
    assert error_of(sandbox.post("/v1/bill/pay", body)) == (400, "INVALID_REQUEST")


def test_pay_parameter_signature_is_required(sandbox: SandboxProcess, ref: Ref) -> None:
    body = sandbox.signed("/v1/bill/pay", ref_id=ref())
    del body["signature"]
    assert error_of(sandbox.post("/v1/bill/pay", body)) == (400, "INVALID_REQUEST")


def test_pay_parameter_ref_id_must_be_that_of_the_check(sandbox: SandboxProcess, ref: Ref) -> None:
    checked = ref()
    check_bill(sandbox, checked)
    assert error_of(pay(sandbox, checked.lower())) == (404, "BILL_NOT_FOUND")
    body = sandbox.signed("/v1/bill/pay", ref_id=checked)
    del body["ref_id"]
    assert error_of(sandbox.post("/v1/bill/pay", body)) == (400, "INVALID_REQUEST")


def test_pay_parameter_amount_may_be_left_out(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id)
    assert pay(sandbox, ref_id).status_code == 200


@pytest.mark.parametrize("difference", [-1, 1])
def test_pay_parameter_amount_other_than_the_total_is_refused(
    sandbox: SandboxProcess, ref: Ref, difference: int
) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id).json()["data"]["total"]
    before = balance(sandbox)
    assert error_of(pay(sandbox, ref_id, amount=total + difference)) == (409, "AMOUNT_MISMATCH")
    assert balance(sandbox) == before
    assert movements(sandbox, ref_id) == []
    assert pay(sandbox, ref_id, amount=total).status_code == 200


def test_pay_1_the_total_is_deducted_then_the_payment_is_processed(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id).json()["data"]["total"]
    before = balance(sandbox)
    assert pay(sandbox, ref_id).json()["data"]["status"] == "pending"
    assert balance(sandbox) == before - total
    assert final(sandbox, ref_id)["status"] == "success"
    assert balance(sandbox) == before - total


def test_pay_2_the_answer_is_a_pending_transaction_whose_sn_comes_with_success(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id).json()["data"]["total"]
    answer = pay(sandbox, ref_id)
    data = answer.json()["data"]
    assert (answer.status_code, data["status"], data["price"], data["sn"]) == (200, "pending", total, None)
    assert final(sandbox, ref_id)["sn"]


def test_pay_3_callback_and_status_tell_the_result_by_the_same_ref_id(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id)
    pay(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0].body["data"]
    assert told["status"] == "success"
    assert told == status(sandbox, ref_id)


def test_pay_4_a_payment_that_fails_after_acceptance_is_refunded(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="90000004")
    before = balance(sandbox)
    pay(sandbox, ref_id)
    assert final(sandbox, ref_id)["status"] == "failed"
    assert balance(sandbox) == before


def test_pay_5_repeating_it_returns_the_payment_and_deducts_nothing(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    total = check_bill(sandbox, ref_id).json()["data"]["total"]
    first = pay(sandbox, ref_id, amount=total).json()["data"]
    again = pay(sandbox, ref_id, amount=total).json()["data"]
    assert again["trx_id"] == first["trx_id"]
    final(sandbox, ref_id)
    after = pay(sandbox, ref_id, amount=total).json()["data"]
    assert (after["trx_id"], after["status"]) == (first["trx_id"], "success")
    assert movements(sandbox, ref_id) == [("debit", -total)]


def test_pay_5_a_bill_paid_under_one_ref_id_cannot_be_paid_under_another(sandbox: SandboxProcess, ref: Ref) -> None:
    first, second = ref(), ref()
    check_bill(sandbox, first)
    check_bill(sandbox, second)
    assert pay(sandbox, first).status_code == 200
    assert error_of(pay(sandbox, second)) == (422, "BILL_ALREADY_PAID")
    assert movements(sandbox, second) == []
    final(sandbox, first)
    assert error_of(check_bill(sandbox, ref())) == (422, "BILL_ALREADY_PAID")


def test_pay_6_an_expired_inquiry_needs_a_new_check_with_a_new_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="90000033")
    before = balance(sandbox)
    expired = eventually(
        lambda: next(
            (answer for answer in [check_expired(sandbox, ref_id)] if answer != (409, "AMOUNT_MISMATCH")), None
        )
    )
    assert expired == (410, "INQUIRY_EXPIRED")
    assert balance(sandbox) == before
    another = ref()
    check_bill(sandbox, another, destination="90000033")
    assert pay(sandbox, another).status_code == 200


def check_expired(sandbox: SandboxProcess, ref_id: str) -> tuple[int, str]:
    """Ask for a payment that cannot succeed before the expiry, and so shows when it comes."""
    return error_of(pay(sandbox, ref_id, amount=1))


def test_pay_7_a_pending_inquiry_cannot_be_paid(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="90000032")
    assert error_of(pay(sandbox, ref_id)) == (409, "INQUIRY_PENDING")
    sandbox.control("settle", ref_id=ref_id, status="valid")
    assert pay(sandbox, ref_id).status_code == 200


def test_pay_8_without_an_inquiry_there_is_no_bill(sandbox: SandboxProcess, ref: Ref) -> None:
    bought = ref()
    buy(sandbox, bought)
    assert error_of(pay(sandbox, ref())) == (404, "BILL_NOT_FOUND")
    assert error_of(pay(sandbox, bought)) == (404, "BILL_NOT_FOUND")


def test_endpoint_balance_answers_the_balance(sandbox: SandboxProcess) -> None:
    sandbox.control("account", balance=1_500_000)
    assert sandbox.call("/v1/balance").json()["data"] == {"balance": 1_500_000}


def test_endpoint_categories_and_brands_answer_lists(sandbox: SandboxProcess) -> None:
    categories = sandbox.call("/v1/categories").json()["data"]["categories"]
    brands = sandbox.call("/v1/brands").json()["data"]["brands"]
    assert len(categories) >= 9
    assert {category["type"] for category in categories} == {"prepaid", "postpaid"}
    assert len({brand["name"] for brand in brands}) >= 30
    codes = {category["code"] for category in categories}
    assert {brand["category"] for brand in brands} == codes
    games = sandbox.call("/v1/brands", category="voucher-game").json()["data"]["brands"]
    assert "Mobile Legends" in {brand["name"] for brand in games}
    assert {brand["category"] for brand in games} == {"voucher-game"}


def test_endpoint_products_answers_the_catalogue_and_filters_it(sandbox: SandboxProcess) -> None:
    products = sandbox.call("/v1/products").json()["data"]["products"]
    assert len(products) >= 400
    assert len({product["product_code"] for product in products}) == len(products)
    some = sandbox.call("/v1/products", category="pulsa", brand="xl", type="prepaid").json()["data"]["products"]
    assert some == [product for product in products if product["brand"] == "xl" and product["category"] == "pulsa"]
    assert sandbox.call("/v1/products", type="postpaid", category="pulsa").json()["data"]["products"] == []
    assert error_of(sandbox.call("/v1/products", type="other")) == (400, "INVALID_REQUEST")


def test_endpoint_create_repeats_an_identical_request_without_charging_again(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    first = buy(sandbox, ref_id, max_price=10_250).json()["data"]
    assert buy(sandbox, ref_id, max_price=10_250).json()["data"]["trx_id"] == first["trx_id"]
    assert error_of(buy(sandbox, ref_id, max_price=11_000)) == (409, "DUPLICATE_REF_ID")
    assert movements(sandbox, ref_id) == [("debit", -10_250)]


def test_endpoint_inquiry_yields_a_total_and_an_expiry_for_the_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    bill = check_bill(sandbox, ref_id).json()["data"]
    assert (bill["ref_id"], bill["product_code"]) == (ref_id, BILL)
    assert bill["total"] > 0
    assert bill["expires_at"]
    assert movements(sandbox, ref_id) == []


def test_endpoint_status_is_asked_by_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    bought, paid = ref(), ref()
    buy(sandbox, bought)
    check_bill(sandbox, paid)
    assert error_of(sandbox.call("/v1/transaction/status", ref_id=paid)) == (404, "TRANSACTION_NOT_FOUND")
    pay(sandbox, paid)
    assert status(sandbox, bought)["ref_id"] == bought
    assert status(sandbox, paid)["ref_id"] == paid
    assert error_of(sandbox.call("/v1/transaction/status", ref_id=ref())) == (404, "TRANSACTION_NOT_FOUND")
