"""Authentication and Limits (document, sections of those names)."""

import hashlib
import runpy

import requests
from requests.adapters import HTTPAdapter

from testing.sandbox_process import PROJECT, eventually
from tests.sandbox.calls import BILL, CREATE, INQUIRY, PAY, PHONE, PRODUCT, STATUS, error_of, new_ref

WRONG_SIGNATURE = (401, "INVALID_SIGNATURE")


def md5(*parts):
    return hashlib.md5(":".join(parts).encode()).hexdigest()  # noqa: S324 - the service's formula


class FromAddress(HTTPAdapter):
    """Calls from another address of this machine."""

    def __init__(self, address):
        self.address = address
        super().__init__()

    def init_poolmanager(self, *args, **kwargs):
        """Bind the sockets of this adapter."""
        super().init_poolmanager(*args, source_address=(self.address, 0), **kwargs)


def balance_from(sandbox, address):
    """Ask for the balance from another address of this machine."""
    with requests.Session() as session:
        session.mount("http://", FromAddress(address))
        return session.post(f"{sandbox.url}/v1/balance", json=sandbox.signed("/v1/balance"), timeout=10)


def test_authentication_2_needs_the_secret_id_and_the_signature(sandbox):
    for path in ("/v1/balance", "/v1/products", CREATE, INQUIRY):
        fields = {"ref_id": new_ref(), "product_code": BILL if path == INQUIRY else PRODUCT, "destination": PHONE}
        whole = sandbox.signed(path, **(fields if path in (CREATE, INQUIRY) else {}))
        assert sandbox.post(path, whole).status_code == 200, path

        for name in ("secret_id", "signature"):
            body = {key: value for key, value in whole.items() if key != name}
            assert error_of(sandbox.post(path, body)) == (400, "INVALID_REQUEST"), path
        assert error_of(sandbox.post(path, {**whole, "secret_id": "somebody"})) == (401, "INVALID_CREDENTIALS")
        assert error_of(sandbox.post(path, {**whole, "signature": "0" * 32})) == WRONG_SIGNATURE, path


def test_authentication_3_a_payment_is_signed_with_three_values(sandbox):
    ref_id, secret_id, key = new_ref(), sandbox.secret_id, sandbox.secret_key
    sandbox.inquire(ref_id)
    body = {"secret_id": secret_id, "ref_id": ref_id}
    for wrong in (
        md5(secret_id, key),
        md5(secret_id + key + ref_id),
        md5(key, secret_id, ref_id),
        md5(secret_id, key, f"{ref_id}x"),
    ):
        assert error_of(sandbox.post(PAY, {**body, "signature": wrong})) == WRONG_SIGNATURE
    assert sandbox.movements(ref_id) == []

    assert sandbox.post(PAY, {**body, "signature": md5(secret_id, key, ref_id)}).status_code == 200


def test_authentication_4_the_key_is_not_kept_with_a_request(sandbox):
    ref_id = new_ref()
    body = sandbox.signed(STATUS, ref_id=ref_id)
    assert sandbox.secret_key not in str(body)

    sandbox.post(STATUS, {**body, "secret_key": sandbox.secret_key})

    [kept] = sandbox.control("requests", ref_id=ref_id)["requests"]
    assert sandbox.secret_key not in str(kept)
    assert body["signature"] not in str(kept)
    assert kept["signature"] == "valid"


def test_authentication_6_7_other_endpoints_have_their_formula(sandbox):
    ref_id = new_ref()
    short, long = md5(sandbox.secret_id, sandbox.secret_key), md5(sandbox.secret_id, sandbox.secret_key, ref_id)
    without = {"secret_id": sandbox.secret_id}
    with_it = {**without, "ref_id": ref_id, "product_code": PRODUCT, "destination": PHONE}

    for wrong in (long, short.upper()):
        assert error_of(sandbox.post("/v1/balance", {**without, "signature": wrong})) == WRONG_SIGNATURE
    assert error_of(sandbox.post(CREATE, {**with_it, "signature": short})) == WRONG_SIGNATURE

    assert sandbox.post("/v1/balance", {**without, "signature": short}).status_code == 200
    assert sandbox.post(CREATE, {**with_it, "signature": long}).status_code == 200


def test_authentication_is_checked_in_its_order(sandbox):
    sandbox.control("account", api_active=False, verified=False, allowed_ips=["10.0.0.1"])
    body = sandbox.signed("/v1/balance")

    def refusal(**other):
        return error_of(sandbox.post("/v1/balance", {**body, **other}))[1]

    assert refusal(secret_id="x", signature="x") == "INVALID_CREDENTIALS"
    assert refusal(signature="x") == "INVALID_SIGNATURE"
    assert refusal() == "API_INACTIVE"
    sandbox.control("account", api_active=True)
    assert refusal() == "ACCOUNT_NOT_VERIFIED"
    sandbox.control("account", verified=True)
    assert refusal() == "IP_NOT_ALLOWED"


def over_the_limit(answers, allowed):
    assert [answer.status_code for answer in answers] == [200] * allowed + [429] * (len(answers) - allowed)
    for refused in answers[allowed:]:
        assert error_of(refused) == (429, "RATE_LIMITED")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60


def nonsense(sandbox):
    return requests.post(f"{sandbox.url}/v1/balance", data=b"nonsense", timeout=10).status_code


def test_limit_of_an_ip_counts_before_anything_is_read(sandbox):
    sandbox.control("account", limits={"ip": 5, "window": 60})

    over_the_limit([sandbox.call("/v1/balance") for _ in range(8)], 5)

    assert balance_from(sandbox, "127.0.0.2").status_code == 200
    assert nonsense(sandbox) == 429


def test_limit_of_the_account_counts_over_all_addresses(sandbox):
    sandbox.control("account", limits={"account": 5, "window": 60})

    over_the_limit([sandbox.call("/v1/balance") for _ in range(8)], 5)

    assert balance_from(sandbox, "127.0.0.2").status_code == 429
    assert sandbox.post("/v1/balance", {"secret_id": "x", "signature": "x"}).status_code == 401


def test_limit_of_the_product_list_leaves_other_endpoints_alone(sandbox):
    sandbox.control("account", limits={"products": 2, "window": 60})

    over_the_limit([sandbox.call("/v1/products", brand="pln") for _ in range(4)], 2)

    assert sandbox.call("/v1/balance").status_code == 200


def test_limits_are_those_of_the_document_by_default(monkeypatch):
    monkeypatch.delenv("SANDBOX_LIMITS", raising=False)
    monkeypatch.delenv("SANDBOX_LIMIT_WINDOW", raising=False)

    settings = runpy.run_path(str(PROJECT / "sandbox/settings.py"))

    assert settings["SANDBOX_LIMITS"] == {"ip": 300, "account": 120, "products": 6}
    assert settings["SANDBOX_LIMIT_WINDOW"] == 60

    monkeypatch.setenv("SANDBOX_LIMITS", "account=5")
    settings = runpy.run_path(str(PROJECT / "sandbox/settings.py"))
    assert settings["SANDBOX_LIMITS"] == {"ip": 300, "account": 5, "products": 6}


def test_limits_slide_and_a_refused_request_counts_in_none(sandbox):
    sandbox.control("account", limits={"ip": 3, "account": 2, "window": 60})

    over_the_limit([sandbox.call("/v1/balance") for _ in range(6)], 2)

    # the four requests that the account's limit refused do not count for the IP: one is still free there
    assert nonsense(sandbox) == 400
    sandbox.control("account", limits={"ip": 3, "account": 2, "window": 0.1})
    eventually(lambda: sandbox.call("/v1/balance").status_code == 200)
