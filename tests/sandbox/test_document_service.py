"""The service, envelopes, product lists, versions (document, sections of those names)."""

import requests

from tests.sandbox.calls import (
    BILL,
    CREATE,
    CUSTOMER,
    INQUIRY,
    OPENING,
    PAY,
    PHONE,
    PRICE,
    PRODUCT,
    STATUS,
    data_of,
    error_of,
    new_ref,
)

INVALID_REQUEST = "INVALID_REQUEST"
# each endpoint and a request that it serves, if they come in this order
ENDPOINTS = {
    "/v1/balance": {},
    "/v1/categories": {},
    "/v1/brands": {},
    "/v1/products": {"brand": "telkomsel"},
    CREATE: {"ref_id": "every", "product_code": PRODUCT, "destination": PHONE},
    STATUS: {"ref_id": "every"},
    INQUIRY: {"ref_id": "every-bill", "product_code": BILL, "destination": CUSTOMER},
    PAY: {"ref_id": "every-bill"},
}
NOT_AN_OBJECT = {
    "empty": b"",
    "form": b"secret_id=sid_test",
    "cut": b"{",
    "list": b"[1]",
    "text": b'"text"',
    "null": b"null",
    "twice": b'{"secret_id":"a","secret_id":"b"}',
    "nan": b'{"amount":NaN}',
    "bytes": b"\xff\xfe{}",
    "deep": b"[" * 50_000,
    "surrogate": b'{"secret_id":"\\ud800"}',
    "large": b'{"secret_id":"' + b"x" * 70_000 + b'"}',
}


def test_service_1_a_purchase_runs_from_the_list_to_its_end(sandbox):
    product = sandbox.products(brand="telkomsel")[PRODUCT]

    created = data_of(sandbox.buy(product_code=product["product_code"], max_price=product["price"]))

    assert (created["status"], created["price"]) == ("pending", product["price"])
    ended = sandbox.final(created["ref_id"])
    assert (ended["status"], bool(ended["sn"])) == ("success", True)


def test_service_4_every_path_is_appended_to_the_base_address(sandbox):
    for path, fields in ENDPOINTS.items():
        assert sandbox.call(path, **fields).status_code == 200, path

    for path in ("/v1/nothing", "/v1/balance/", "/v2/balance", "/v1balance", "/api/v1/balance"):
        assert sandbox.post(path, sandbox.signed("/v1/balance")).status_code == 404, path
    for path in ("/v1/nothing", "/v1/%00"):
        assert error_of(sandbox.post(path, {})) == (404, INVALID_REQUEST)


def test_service_5_every_endpoint_refuses_other_methods(sandbox):
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        for path in ENDPOINTS:
            body = sandbox.signed(path, ref_id="x")
            refused = requests.request(method, f"{sandbox.url}{path}", json=body, timeout=10)

            assert (method, path, *error_of(refused)) == (method, path, 405, INVALID_REQUEST)
            assert refused.headers["Allow"] == "POST"


def test_service_5_every_endpoint_refuses_what_is_not_an_object(sandbox):
    for name, body in NOT_AN_OBJECT.items():
        for path in ENDPOINTS if name in {"empty", "large"} else ("/v1/balance", CREATE):
            refused = requests.post(f"{sandbox.url}{path}", data=body, timeout=10)

            assert (name, path, *error_of(refused)) == (name, path, 400, INVALID_REQUEST)


def test_service_5_every_answer_is_a_json_object(sandbox):
    for path, fields in ENDPOINTS.items():
        good = sandbox.call(path, **fields)
        bad = sandbox.post(path, {"secret_id": "nobody", "signature": "x", "ref_id": "x"})

        assert [answer.headers["Content-Type"] for answer in (good, bad)] == ["application/json"] * 2
        assert [type(answer.json()) for answer in (good, bad)] == [dict] * 2


def test_service_5_amounts_are_whole_rupiah(sandbox):
    transaction = data_of(sandbox.buy())
    bill = data_of(sandbox.inquire())
    amounts = [
        sandbox.balance(),
        transaction["price"],
        transaction["balance"],
        *(bill[name] for name in ("amount", "admin_fee", "penalty", "total")),
        *(product[name] for product in sandbox.products().values() for name in ("price", "admin_fee")),
    ]
    assert {type(amount) for amount in amounts} == {int}

    for wrong in (10250.0, "10250", True, -1):
        assert error_of(sandbox.buy(max_price=wrong)) == (400, INVALID_REQUEST)
        assert error_of(sandbox.pay(bill["ref_id"], amount=wrong)) == (400, INVALID_REQUEST)


def test_service_6_an_account_switched_off_is_refused(sandbox):
    for switch, refusal in [("verified", "ACCOUNT_NOT_VERIFIED"), ("api_active", "API_INACTIVE")]:
        sandbox.control("account", **{switch: False})
        assert error_of(sandbox.buy()) == (403, refusal)

        sandbox.control("account", **{switch: True})
        assert sandbox.buy().status_code == 200


def test_service_6_the_balance_must_suffice_and_can_be_topped_up(sandbox):
    ref_id = new_ref()
    sandbox.control("account", balance=PRICE - 1)
    assert error_of(sandbox.buy(ref_id)) == (402, "INSUFFICIENT_BALANCE")
    assert sandbox.balance() == PRICE - 1

    sandbox.control("topup", amount=1)

    assert sandbox.buy(ref_id).status_code == 200
    assert sandbox.balance() == 0


def test_service_6_registered_addresses_shut_out_others(sandbox):
    for allowed, status in (
        (["10.0.0.1", "192.168.7.0/24"], 403),
        (["10.0.0.1", "127.0.0.0/8"], 200),
        ([], 200),
    ):  # fmt: skip
        sandbox.control("account", allowed_ips=allowed)
        answer = sandbox.call("/v1/balance")
        assert answer.status_code == status
        assert answer.json().get("error_code") == ("IP_NOT_ALLOWED" if status == 403 else None)


def test_service_7_the_key_is_in_the_dashboard_and_in_no_answer(sandbox):
    page = requests.get(f"{sandbox.url}/", timeout=10).text
    assert sandbox.secret_id in page
    assert sandbox.secret_key in page

    for path, fields in ENDPOINTS.items():
        assert sandbox.secret_key not in sandbox.call(path, **fields).text


def test_envelope_of_success_has_its_four_fields(sandbox):
    answer = sandbox.call("/v1/balance")

    body = answer.json()
    assert (answer.status_code, body["code"], body["status"], body["data"]) == (
        200, 200, "success", {"balance": OPENING},
    )  # fmt: skip
    assert set(body) == {"code", "status", "message", "data"}
    assert isinstance(body["message"], str)


def test_envelope_of_error_has_its_four_fields(sandbox):
    answer = sandbox.call(STATUS, ref_id=new_ref())

    body = answer.json()
    assert (answer.status_code, body["code"], body["status"]) == (404, 404, "error")
    assert set(body) == {"code", "status", "error_code", "message"}
    assert body["error_code"] == "TRANSACTION_NOT_FOUND"
    assert isinstance(body["message"], str)


def test_list_of_categories_and_brands_belong_together(sandbox):
    categories = data_of(sandbox.call("/v1/categories"))["categories"]
    brands = data_of(sandbox.call("/v1/brands"))["brands"]

    assert categories[0] == {"code": "pulsa", "name": "Pulsa", "type": "prepaid"}
    assert brands[0] == {"code": "telkomsel", "name": "Telkomsel", "category": "pulsa"}
    assert {category["type"] for category in categories} == {"prepaid", "postpaid"}
    assert {brand["category"] for brand in brands} == {category["code"] for category in categories}
    games = data_of(sandbox.call("/v1/brands", category="voucher-game"))["brands"]
    assert games == [brand for brand in brands if brand["category"] == "voucher-game"] != []


def test_list_of_products_has_all_fields_and_can_be_filtered(sandbox):
    products = sandbox.products()

    assert len(products) >= 400
    assert products["PLN20"] == {
        "product_code": "PLN20",
        "product_name": "Token PLN 20.000",
        "category": "token-pln",
        "brand": "pln",
        "type": "prepaid",
        "price": 20_275,
        "admin_fee": 0,
        "status": "active",
        "description": products["PLN20"]["description"],
        "cut_off_start": None,
        "cut_off_end": None,
    }
    some = sandbox.products(category="pulsa", brand="xl", type="prepaid")
    wanted = ("pulsa", "xl")
    assert some == {code: row for code, row in products.items() if (row["category"], row["brand"]) == wanted}
    assert sandbox.products(type="postpaid", category="pulsa") == {}
    assert error_of(sandbox.call("/v1/products", type="other")) == (400, INVALID_REQUEST)


def test_list_of_products_stays_the_same_so_it_can_be_cached(sandbox):
    assert sandbox.call("/v1/products").json() == sandbox.call("/v1/products").json()
