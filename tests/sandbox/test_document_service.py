"""What the service does (document, section of that name), statement by statement."""

from collections.abc import Callable

import pytest
import requests

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import BILL, balance, buy, check_bill, error_of, final, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]
ENDPOINTS = {
    "/v1/balance": {},
    "/v1/categories": {},
    "/v1/brands": {},
    "/v1/products": {"brand": "telkomsel"},
    "/v1/transaction/create": {"ref_id": "every", "product_code": "TSEL10", "destination": "081234567890"},
    "/v1/transaction/status": {"ref_id": "every"},
    "/v1/bill/inquiry": {"ref_id": "every-bill", "product_code": BILL, "destination": "7001234"},
    "/v1/bill/pay": {"ref_id": "every-bill"},
}


def test_service_1_a_server_buys_without_the_dashboard(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id).status_code == 200
    assert final(sandbox, ref_id)["sn"]


def test_service_2_the_outcome_is_reported_after_the_answer(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id).json()["data"]["status"] == "pending"
    assert not merchant.of(ref_id)
    assert eventually(lambda: merchant.of(ref_id))[0].body["data"]["status"] == "success"


def test_service_3_callback_and_status_both_tell_the_final_outcome(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0].body["data"]
    assert told == status(sandbox, ref_id)


def test_service_4_paths_are_appended_to_the_base_address(sandbox: SandboxProcess) -> None:
    for path, fields in ENDPOINTS.items():
        assert sandbox.call(path, **fields).status_code == 200, path
    unknown = sandbox.post("/v1/nothing", sandbox.signed("/v1/balance"))
    assert error_of(unknown) == (404, "INVALID_REQUEST")


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_service_5a_every_endpoint_uses_post(sandbox: SandboxProcess, path: str, method: str) -> None:
    response = requests.request(method, f"{sandbox.url}{path}", json=sandbox.signed(path, ref_id="x"), timeout=10)
    assert error_of(response) == (405, "INVALID_REQUEST")
    assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"secret_id=sid_test",
        b"{",
        b"[1]",
        b'"text"',
        b"null",
        b'{"secret_id":"a","secret_id":"b"}',
        b'{"amount":NaN}',
        b"\xff\xfe{}",
        b"[" * 50_000,
        b'{"secret_id":"\\ud800"}',
        b'{"secret_id":"' + b"x" * 70_000 + b'"}',
    ],
    ids=["empty", "form", "cut", "list", "text", "null", "twice", "nan", "bytes", "deep", "surrogate", "large"],
)
def test_service_5b_the_request_body_is_a_json_object(sandbox: SandboxProcess, path: str, body: bytes) -> None:
    response = requests.post(f"{sandbox.url}{path}", data=body, timeout=10)
    assert error_of(response) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("path", ENDPOINTS)
def test_service_5c_the_response_is_always_json(sandbox: SandboxProcess, path: str) -> None:
    good = sandbox.call(path, **ENDPOINTS[path])
    bad = sandbox.post(path, {"secret_id": "nobody", "signature": "x", "ref_id": "x"})
    for response in (good, bad):
        assert response.headers["Content-Type"] == "application/json"
        assert isinstance(response.json(), dict)


def test_service_5d_amounts_are_whole_rupiah(sandbox: SandboxProcess, ref: Ref) -> None:
    transaction = buy(sandbox, ref()).json()["data"]
    bill = check_bill(sandbox, ref()).json()["data"]
    products = sandbox.call("/v1/products").json()["data"]["products"]
    amounts = [
        balance(sandbox),
        transaction["price"],
        transaction["balance"],
        *(bill[name] for name in ("amount", "admin_fee", "penalty", "total")),
        *(product[name] for product in products for name in ("price", "admin_fee")),
    ]
    assert {type(amount) for amount in amounts} == {int}
    for wrong in (10250.0, "10250", True, -1):
        assert error_of(buy(sandbox, ref(), max_price=wrong)) == (400, "INVALID_REQUEST")
        assert error_of(pay(sandbox, bill["ref_id"], amount=wrong)) == (400, "INVALID_REQUEST")


def test_service_6a_the_account_must_be_verified(sandbox: SandboxProcess) -> None:
    sandbox.control("account", verified=False)
    assert error_of(sandbox.call("/v1/balance")) == (403, "ACCOUNT_NOT_VERIFIED")


def test_service_6b_the_api_must_be_activated(sandbox: SandboxProcess, ref: Ref) -> None:
    sandbox.control("account", api_active=False)
    assert error_of(buy(sandbox, ref())) == (403, "API_INACTIVE")
    sandbox.control("account", api_active=True)
    assert buy(sandbox, ref()).status_code == 200


def test_service_6c_the_balance_must_suffice_and_is_topped_up_in_the_dashboard(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    sandbox.control("account", balance=10_249)
    ref_id = ref()
    assert error_of(buy(sandbox, ref_id)) == (402, "INSUFFICIENT_BALANCE")
    assert balance(sandbox) == 10_249
    sandbox.control("topup", amount=1)
    assert buy(sandbox, ref_id).status_code == 200
    assert balance(sandbox) == 0


def test_service_6d_registered_addresses_shut_out_all_others(sandbox: SandboxProcess) -> None:
    sandbox.control("account", allowed_ips=["10.0.0.1", "192.168.7.0/24"])
    assert error_of(sandbox.call("/v1/balance")) == (403, "IP_NOT_ALLOWED")
    sandbox.control("account", allowed_ips=["10.0.0.1", "127.0.0.0/8"])
    assert sandbox.call("/v1/balance").status_code == 200
    sandbox.control("account", allowed_ips=[])
    assert sandbox.call("/v1/balance").status_code == 200


def test_service_7_the_dashboard_shows_the_credentials_and_no_answer_carries_the_key(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    page = requests.get(f"{sandbox.url}/", timeout=10).text
    assert sandbox.secret_id in page
    assert sandbox.secret_key in page
    answers = [sandbox.call(path, **fields).text for path, fields in ENDPOINTS.items()]
    assert not [answer for answer in answers if sandbox.secret_key in answer]


def test_service_8_the_purchase_flow_runs_from_the_list_to_a_final_state(sandbox: SandboxProcess, ref: Ref) -> None:
    products = sandbox.call("/v1/products", brand="telkomsel").json()["data"]["products"]
    product = next(product for product in products if product["product_name"] == "Telkomsel 10.000")
    ref_id = ref()
    created = buy(sandbox, ref_id, product_code=product["product_code"], max_price=product["price"]).json()["data"]
    assert created["price"] == product["price"]
    assert final(sandbox, ref_id)["status"] == "success"


def test_service_9_a_new_transaction_is_pending_and_final_after_a_few_seconds(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    ref_id = ref()
    assert buy(sandbox, ref_id).json()["data"]["status"] == "pending"
    assert status(sandbox, ref_id)["status"] == "pending"
    assert final(sandbox, ref_id)["status"] == "success"


def test_service_10_a_bill_is_checked_then_paid_with_the_same_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    checked = check_bill(sandbox, ref_id).json()["data"]
    paid = pay(sandbox, ref_id, amount=checked["total"]).json()["data"]
    assert (paid["ref_id"], paid["price"]) == (ref_id, checked["total"])
    assert final(sandbox, ref_id)["status"] == "success"
