"""Authentication, Events, Errors, Limits, Versioning (document, sections of those names)."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import BILL, balance, buy, check_bill, error_of, final, movements, pay, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()  # noqa: S324 - the service's formula


class FromAddress(HTTPAdapter):
    """Calls from another address of this machine."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Bind the sockets of this adapter."""
        super().init_poolmanager(*args, source_address=(self.address, 0), **kwargs)


def call_from(sandbox: SandboxProcess, address: str, endpoint: str, **fields: Any) -> requests.Response:
    with requests.Session() as session:
        session.mount("http://", FromAddress(address))
        return session.post(f"{sandbox.url}{endpoint}", json=sandbox.signed(endpoint, **fields), timeout=10)


def test_authentication_1_credentials_come_from_the_dashboard_and_can_be_renewed(
    sandbox_process: SandboxProcess,
) -> None:
    own = SandboxProcess.fresh("credentials")
    try:
        with requests.Session() as browser:
            page = browser.get(f"{own.url}/", timeout=10).text
            assert own.secret_id in page
            token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
            browser.post(
                f"{own.url}/account/credentials", data={"csrfmiddlewaretoken": token}, timeout=10
            ).raise_for_status()
        assert error_of(own.call("/v1/balance")) == (401, "INVALID_CREDENTIALS")
    finally:
        own.remove()


@pytest.mark.parametrize("path", ["/v1/balance", "/v1/products", "/v1/transaction/create", "/v1/bill/inquiry"])
def test_authentication_2_every_body_carries_secret_id_and_signature(
    sandbox: SandboxProcess, ref: Ref, path: str
) -> None:
    fields = {"ref_id": ref(), "product_code": BILL if "bill" in path else "TSEL10", "destination": "081234567890"}
    whole = sandbox.signed(path, **(fields if path.count("/") > 2 else {}))
    assert sandbox.post(path, whole).status_code == 200
    for name in ("secret_id", "signature"):
        body = {key: value for key, value in whole.items() if key != name}
        assert error_of(sandbox.post(path, body)) == (400, "INVALID_REQUEST")
    assert error_of(sandbox.post(path, {**whole, "secret_id": "somebody"})) == (401, "INVALID_CREDENTIALS")
    assert error_of(sandbox.post(path, {**whole, "signature": "0" * 32})) == (401, "INVALID_SIGNATURE")


def test_authentication_3_the_signature_of_a_payment_is_the_md5_of_the_three_values(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id)
    body = {"secret_id": sandbox.secret_id, "ref_id": ref_id}
    right = md5(f"{sandbox.secret_id}:{sandbox.secret_key}:{ref_id}")
    for wrong in (
        md5(f"{sandbox.secret_id}:{sandbox.secret_key}"),
        md5(f"{sandbox.secret_id}{sandbox.secret_key}{ref_id}"),
        md5(f"{sandbox.secret_key}:{sandbox.secret_id}:{ref_id}"),
        md5(f"{sandbox.secret_id}:{sandbox.secret_key}:{ref_id}x"),
    ):
        assert error_of(sandbox.post("/v1/bill/pay", {**body, "signature": wrong})) == (401, "INVALID_SIGNATURE")
    assert movements(sandbox, ref_id) == []
    assert sandbox.post("/v1/bill/pay", {**body, "signature": right}).status_code == 200


def test_authentication_4_the_key_is_never_sent_nor_kept_with_a_request(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    body = sandbox.signed("/v1/transaction/status", ref_id=ref_id)
    assert sandbox.secret_key not in str(body)
    sandbox.post("/v1/transaction/status", {**body, "secret_key": sandbox.secret_key})
    kept = sandbox.control("requests", ref_id=ref_id)["requests"][0]
    assert sandbox.secret_key not in str(kept)
    assert body["signature"] not in str(kept)
    assert kept["signature"] == "valid"


def test_authentication_5_only_registered_addresses_may_call(sandbox: SandboxProcess) -> None:
    sandbox.control("account", allowed_ips=["127.0.0.2"])
    assert error_of(sandbox.call("/v1/balance")) == (403, "IP_NOT_ALLOWED")
    assert call_from(sandbox, "127.0.0.2", "/v1/balance").status_code == 200


def test_authentication_6_other_endpoints_sign_with_or_without_the_ref_id(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    short = md5(f"{sandbox.secret_id}:{sandbox.secret_key}")
    long = md5(f"{sandbox.secret_id}:{sandbox.secret_key}:{ref_id}")
    without = {"secret_id": sandbox.secret_id}
    assert sandbox.post("/v1/balance", {**without, "signature": short}).status_code == 200
    assert error_of(sandbox.post("/v1/balance", {**without, "signature": long})) == (401, "INVALID_SIGNATURE")
    with_it = {**without, "ref_id": ref_id, "product_code": "TSEL10", "destination": "081234567890"}
    assert error_of(sandbox.post("/v1/transaction/create", {**with_it, "signature": short})) == (
        401,
        "INVALID_SIGNATURE",
    )
    assert sandbox.post("/v1/transaction/create", {**with_it, "signature": long}).status_code == 200


def test_authentication_7_the_md5_is_lower_case_hex(sandbox: SandboxProcess) -> None:
    body = sandbox.signed("/v1/balance")
    assert sandbox.post("/v1/balance", body).status_code == 200
    assert error_of(sandbox.post("/v1/balance", {**body, "signature": body["signature"].upper()})) == (
        401,
        "INVALID_SIGNATURE",
    )


def test_authentication_is_checked_in_its_order(sandbox: SandboxProcess) -> None:
    sandbox.control("account", api_active=False, verified=False, allowed_ips=["10.0.0.1"])
    body = sandbox.signed("/v1/balance")
    assert (
        error_of(sandbox.post("/v1/balance", {**body, "secret_id": "x", "signature": "x"}))[1] == "INVALID_CREDENTIALS"
    )
    assert error_of(sandbox.post("/v1/balance", {**body, "signature": "x"}))[1] == "INVALID_SIGNATURE"
    assert error_of(sandbox.post("/v1/balance", body))[1] == "API_INACTIVE"
    sandbox.control("account", api_active=True)
    assert error_of(sandbox.post("/v1/balance", body))[1] == "ACCOUNT_NOT_VERIFIED"
    sandbox.control("account", verified=True)
    assert error_of(sandbox.post("/v1/balance", body))[1] == "IP_NOT_ALLOWED"


def test_event_1_the_final_result_comes_by_callback_unasked(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000004")
    told = eventually(lambda: merchant.of(ref_id))[0]
    assert told.body["event"] == told.headers["X-Event"] == "transaction.failed"
    assert told.body["data"]["status"] == "failed"


def test_event_2_the_status_endpoint_tells_the_same_without_any_callback(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000015")
    assert final(sandbox, ref_id)["status"] == "success"
    assert sandbox.control("deliveries", ref_id=ref_id)["deliveries"] == []


def test_event_3_the_payload_is_signed_over_the_raw_body(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0]
    expected = hmac.new(sandbox.secret_key.encode(), told.raw, hashlib.sha256).hexdigest()
    assert told.headers["X-Signature"] == expected
    assert told.headers["Content-Type"] == "application/json"
    assert set(told.body) == {"event", "timestamp", "data"}
    assert told.body["timestamp"].endswith("+07:00")
    assert told.body["data"] == status(sandbox, ref_id)


def test_event_4_purchases_and_payments_lead_to_a_callback_and_checks_do_not(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    bought, paid, checked = ref(), ref(), ref()
    buy(sandbox, bought)
    check_bill(sandbox, checked, destination="7000001")
    check_bill(sandbox, paid)
    pay(sandbox, paid)
    eventually(lambda: merchant.of(bought) and merchant.of(paid))
    assert merchant.of(checked) == []


def test_error_amount_mismatch_is_409_and_deducts_nothing(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id)
    before = balance(sandbox)
    assert error_of(pay(sandbox, ref_id, amount=1)) == (409, "AMOUNT_MISMATCH")
    assert balance(sandbox) == before


def test_error_inquiry_expired_is_410_and_deducts_nothing(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="90000033")
    before = balance(sandbox)
    eventually(lambda: error_of(pay(sandbox, ref_id, amount=1)) == (410, "INQUIRY_EXPIRED"))
    assert error_of(pay(sandbox, ref_id)) == (410, "INQUIRY_EXPIRED")
    assert balance(sandbox) == before


def test_error_bill_not_found_is_404_and_deducts_nothing(sandbox: SandboxProcess, ref: Ref) -> None:
    before = balance(sandbox)
    assert error_of(pay(sandbox, ref())) == (404, "BILL_NOT_FOUND")
    assert balance(sandbox) == before


def test_error_inquiry_pending_deducts_nothing(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="90000032")
    before = balance(sandbox)
    assert error_of(pay(sandbox, ref_id)) == (409, "INQUIRY_PENDING")
    assert balance(sandbox) == before


def test_error_codes_that_the_document_leaves_out_are_those_that_we_decided(sandbox: SandboxProcess, ref: Ref) -> None:
    refusals = {
        error_of(sandbox.post("/v1/balance", {})),
        error_of(sandbox.post("/v1/balance", {"secret_id": "x", "signature": "x"})),
        error_of(sandbox.post("/v1/balance", {"secret_id": sandbox.secret_id, "signature": "x"})),
        error_of(buy(sandbox, ref(), product_code="NOTHING")),
        error_of(buy(sandbox, ref(), product_code=BILL)),
        error_of(check_bill(sandbox, ref(), product_code="TSEL10")),
        error_of(buy(sandbox, ref(), destination="12345")),
        error_of(buy(sandbox, ref(), max_price=10_249)),
        error_of(buy(sandbox, ref(), destination="081290000020")),
        error_of(buy(sandbox, ref(), destination="081290000021")),
        error_of(buy(sandbox, ref(), destination="081290000022")),
        error_of(buy(sandbox, ref(), destination="081290000024")),
        error_of(check_bill(sandbox, ref(), destination="90000035")),
        error_of(check_bill(sandbox, ref(), destination="90000036")),
    }
    assert refusals == {
        (400, "INVALID_REQUEST"),
        (401, "INVALID_CREDENTIALS"),
        (401, "INVALID_SIGNATURE"),
        (404, "PRODUCT_NOT_FOUND"),
        (422, "INVALID_DESTINATION"),
        (409, "PRICE_CHANGED"),
        (402, "INSUFFICIENT_BALANCE"),
        (503, "CUT_OFF"),
        (503, "PRODUCT_UNAVAILABLE"),
        (429, "RATE_LIMITED"),
        (422, "BILL_ALREADY_PAID"),
        (422, "BILL_NOT_AVAILABLE"),
    }
    assert balance(sandbox) == 10_000_000


def test_error_a_disturbed_or_vanished_product_and_the_cut_off_refuse_ordinary_destinations(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    sandbox.control("product", product_code="TSEL5", status="inactive")
    sandbox.control("product", product_code="TSEL20", vanished=True)
    sandbox.control("product", product_code="TSEL25", cut_off_start="00:00", cut_off_end="23:59:59.999999")
    assert error_of(buy(sandbox, ref(), product_code="TSEL5")) == (503, "PRODUCT_UNAVAILABLE")
    assert error_of(buy(sandbox, ref(), product_code="TSEL20")) == (404, "PRODUCT_NOT_FOUND")
    assert error_of(buy(sandbox, ref(), product_code="TSEL25")) == (503, "CUT_OFF")
    listed = {
        row["product_code"]: row for row in sandbox.call("/v1/products", brand="telkomsel").json()["data"]["products"]
    }
    assert listed["TSEL5"]["status"] == "inactive"
    assert "TSEL20" not in listed


def test_error_a_failed_transaction_is_refunded_once(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000004")
    final(sandbox, ref_id)
    buy(sandbox, ref_id, destination="081290000004")
    assert movements(sandbox, ref_id) == [("debit", -10_250), ("refund", 10_250)]


def over_the_limit(answers: list[requests.Response], allowed: int) -> None:
    assert [answer.status_code for answer in answers] == [200] * allowed + [429] * (len(answers) - allowed)
    for refused in answers[allowed:]:
        assert error_of(refused) == (429, "RATE_LIMITED")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_limit_per_client_ip(sandbox: SandboxProcess) -> None:
    sandbox.control("account", limits={"ip": 5, "window": 60})
    over_the_limit([sandbox.call("/v1/balance") for _ in range(8)], 5)
    assert call_from(sandbox, "127.0.0.2", "/v1/balance").status_code == 200
    # counted before anything is read, so that nonsense counts as well and is refused as well
    assert requests.post(f"{sandbox.url}/v1/balance", data=b"nonsense", timeout=10).status_code == 429


def test_limit_per_account(sandbox: SandboxProcess) -> None:
    sandbox.control("account", limits={"account": 5, "window": 60})
    over_the_limit([sandbox.call("/v1/balance") for _ in range(8)], 5)
    assert call_from(sandbox, "127.0.0.2", "/v1/balance").status_code == 429
    assert sandbox.post("/v1/balance", {"secret_id": "x", "signature": "x"}).status_code == 401


def test_limit_of_the_product_list(sandbox: SandboxProcess) -> None:
    sandbox.control("account", limits={"products": 2, "window": 60})
    over_the_limit([sandbox.call("/v1/products", brand="pln") for _ in range(4)], 2)
    assert sandbox.call("/v1/balance").status_code == 200


def test_limits_are_those_of_the_document_unless_told_otherwise(sandbox: SandboxProcess) -> None:
    own = SandboxProcess.fresh("limits", SANDBOX_LIMITS="ip=300,account=120,products=6")
    try:
        over_the_limit([own.call("/v1/products", brand="pln") for _ in range(8)], 6)
        over_the_limit([own.call("/v1/balance") for _ in range(116)], 114)
    finally:
        own.remove()


def test_limits_slide_and_refused_requests_do_not_count(sandbox: SandboxProcess) -> None:
    sandbox.control("account", limits={"ip": 3, "account": 2, "window": 1})
    over_the_limit([sandbox.call("/v1/balance") for _ in range(6)], 2)
    refused = sandbox.call("/v1/balance")
    assert int(refused.headers["Retry-After"]) == 1
    # the six that the account's limit refused took no place in the IP's: one is still free there
    assert requests.post(f"{sandbox.url}/v1/balance", data=b"nonsense", timeout=10).status_code == 400
    eventually(lambda: sandbox.call("/v1/balance").status_code == 200, within=3)


def test_limits_the_price_list_stays_whole_so_that_it_can_be_cached(sandbox: SandboxProcess) -> None:
    assert sandbox.call("/v1/products").json() == sandbox.call("/v1/products").json()


def test_version_is_part_of_every_path(sandbox: SandboxProcess) -> None:
    assert sandbox.call("/v1/balance").status_code == 200
    for path in ("/v2/balance", "/v1balance", "/api/v1/balance"):
        response = requests.post(f"{sandbox.url}{path}", json=sandbox.signed("/v1/balance"), timeout=10)
        assert response.status_code == 404
