"""Transactions: fields, states, creation, events (document, sections of those names)."""

import hashlib
import hmac

import pytest

from tests.sandbox.calls import (
    KINDS,
    NOT_FOUND,
    OPENING,
    PHONE,
    PRICE,
    PRODUCT,
    STATUS,
    callbacks,
    data_of,
    error_of,
    new_ref,
)

FIELDS = {
    "trx_id", "ref_id", "product_code", "product_name", "destination", "price", "status", "sn", "message", "balance",
}  # fmt: skip
DUPLICATE = (409, "DUPLICATE_REF_ID")
each_kind = pytest.mark.parametrize("kind", KINDS)


def test_transaction_has_the_same_fields_wherever_it_comes_from(sandbox):
    for kind in KINDS:
        ref_id = new_ref()

        assert set(data_of(sandbox.order(kind, ref_id))) == set(sandbox.status(ref_id)) == FIELDS, kind


def test_transaction_carries_what_was_asked_and_what_it_cost(sandbox):
    ref_id = new_ref()

    bought = data_of(sandbox.buy(ref_id))

    assert bought == {
        "trx_id": bought["trx_id"],
        "ref_id": ref_id,
        "product_code": PRODUCT,
        "product_name": "Telkomsel 10.000",
        "destination": PHONE,
        "price": PRICE,
        "status": "pending",
        "sn": None,
        "message": bought["message"],
        "balance": OPENING - PRICE,
    }
    assert sandbox.movements(ref_id) == [("debit", -PRICE)]
    assert bought["message"] != sandbox.final(ref_id)["message"] != ""


def test_transaction_trx_id_is_the_services_own_and_unique(sandbox):
    made = {data_of(sandbox.buy())["trx_id"] for _ in range(5)}

    assert len(made) == 5
    assert all(isinstance(trx_id, str) and trx_id for trx_id in made)


def test_transaction_ref_id_is_unique_over_purchases_and_bills(sandbox):
    bought, inquired = new_ref(), new_ref()
    sandbox.buy(bought)
    sandbox.inquire(inquired)

    assert error_of(sandbox.buy(bought, destination="081298765432")) == DUPLICATE
    assert error_of(sandbox.buy(bought, product_code="TSEL20")) == DUPLICATE
    assert error_of(sandbox.inquire(bought)) == DUPLICATE
    assert error_of(sandbox.inquire(inquired, destination="7005555")) == DUPLICATE
    assert error_of(sandbox.buy(inquired)) == DUPLICATE


def test_transaction_ref_id_is_1_to_64_safe_characters(sandbox):
    for good in ("A-z_0.9", "x", "y" * 64):
        assert sandbox.buy(good).status_code == 200
    for bad in ("z" * 65, "a b", "a/b", "ä", "a\n", 5, ["a"]):
        assert error_of(sandbox.buy(bad)) == (400, "INVALID_REQUEST"), bad
    assert error_of(sandbox.call(STATUS, ref_id="")) == (400, "INVALID_REQUEST")


def test_transaction_sn_of_an_electricity_token_has_20_digits(sandbox):
    ref_id = new_ref()
    sandbox.buy(ref_id, product_code="PLN20", destination="12345678901")

    sn = sandbox.final(ref_id)["sn"]

    assert (sn.isdigit(), len(sn)) == (True, 20)


@each_kind
def test_state_success_is_final_charged_once_and_has_an_sn(sandbox, kind):
    ref_id = new_ref()
    answer = sandbox.order(kind, ref_id, 3)
    assert (answer.json()["status"], data_of(answer)["status"], data_of(answer)["sn"]) == ("success", "pending", None)

    sandbox.settle(ref_id, "success")

    ended = sandbox.status(ref_id)
    assert (ended["status"], ended["balance"], bool(ended["sn"])) == ("success", OPENING - ended["price"], True)
    assert_final(sandbox, ref_id, [("debit", -ended["price"])])


@each_kind
def test_state_failed_is_final_refunded_once_and_has_no_sn(sandbox, kind):
    ref_id = new_ref()
    sandbox.order(kind, ref_id, 3)

    sandbox.settle(ref_id, "failed")

    ended = sandbox.status(ref_id)
    assert (ended["status"], ended["balance"], ended["sn"]) == ("failed", OPENING, None)
    assert_final(sandbox, ref_id, [("debit", -ended["price"]), ("refund", ended["price"])])
    # the same request again is not charged again
    assert data_of(sandbox.order(kind, ref_id, 3)) == ended
    assert sandbox.balance() == OPENING


def assert_final(sandbox, ref_id, moved):
    before = sandbox.status(ref_id)
    for other in ("success", "failed"):
        with pytest.raises(AssertionError, match="control settle"):
            sandbox.settle(ref_id, other)
    assert sandbox.status(ref_id) == before
    assert sandbox.movements(ref_id) == moved


def test_create_repeated_identically_is_charged_once(sandbox):
    ref_id = new_ref()
    first = data_of(sandbox.buy(ref_id, max_price=PRICE))

    assert data_of(sandbox.buy(ref_id, max_price=PRICE))["trx_id"] == first["trx_id"]

    assert error_of(sandbox.buy(ref_id, max_price=PRICE + 1)) == DUPLICATE
    assert error_of(sandbox.buy(ref_id)) == DUPLICATE
    assert sandbox.movements(ref_id) == [("debit", -PRICE)]


def test_status_is_asked_by_ref_id_and_knows_no_inquiry(sandbox):
    bought, inquired = new_ref(), new_ref()
    sandbox.buy(bought)
    sandbox.inquire(inquired)

    assert sandbox.status(bought)["ref_id"] == bought
    assert error_of(sandbox.call(STATUS, ref_id=inquired)) == NOT_FOUND
    assert error_of(sandbox.call(STATUS, ref_id=new_ref())) == NOT_FOUND


@pytest.mark.parametrize(("kind", "ending"), [("purchase", "success"), ("bill", "failed")])
def test_event_reports_the_final_state_as_the_status_does(sandbox, merchant, kind, ending):
    ref_id = new_ref()
    sandbox.order(kind, ref_id, 3)
    assert merchant.of(ref_id) == []

    sandbox.settle(ref_id, ending)

    [received] = callbacks(merchant, ref_id)
    assert set(received.body) == {"event", "timestamp", "data"}
    assert received.body["event"] == received.headers["X-Event"] == f"transaction.{ending}"
    assert received.body["timestamp"].endswith("+07:00")
    assert received.body["data"] == sandbox.status(ref_id)
    assert received.headers["Content-Type"] == "application/json"


def test_event_is_signed_in_the_style_of_the_account(sandbox, merchant):
    for style in ("hmac_sha256_body", "md5_ref", "none"):
        ref_id = new_ref()
        sandbox.control("account", callback_style=style)
        sandbox.buy(ref_id, 3)
        sandbox.settle(ref_id, "success")

        [received] = callbacks(merchant, ref_id)

        key = sandbox.secret_key.encode()
        text = f"{sandbox.secret_id}:{sandbox.secret_key}:{ref_id}"
        expected = {
            "hmac_sha256_body": hmac.new(key, received.raw, hashlib.sha256).hexdigest(),
            "md5_ref": hashlib.md5(text.encode()).hexdigest(),  # noqa: S324
            "none": None,
        }
        assert received.headers.get("X-Signature") == expected[style], style


def test_event_is_not_needed_to_learn_the_final_state(sandbox, merchant):
    ref_id = new_ref()
    sandbox.buy(ref_id, 15)

    assert sandbox.final(ref_id)["status"] == "success"

    assert sandbox.deliveries(ref_id) == []


def test_event_of_an_inquiry_is_never_sent(sandbox, merchant):
    inquired, paid = new_ref(), new_ref()
    sandbox.inquire(inquired, destination="7000001")

    sandbox.order("bill", paid)

    callbacks(merchant, paid)
    assert sandbox.deliveries(inquired) == []


def test_create_is_refused_as_decided_and_charges_nothing(sandbox):
    sandbox.control("product", product_code="TSEL5", status="inactive")
    sandbox.control("product", product_code="TSEL20", vanished=True)
    sandbox.control("product", product_code="TSEL25", cut_off_start="00:00", cut_off_end="23:59:59.999999")
    refusals = {
        (404, "PRODUCT_NOT_FOUND"): [
            {"product_code": "NOTHING"},
            {"product_code": "PDAMBOGOR"},
            {"product_code": "TSEL20"},
        ],
        (422, "INVALID_DESTINATION"): [{"destination": "12345"}],
        (409, "PRICE_CHANGED"): [{"max_price": PRICE - 1}],
        (503, "PRODUCT_UNAVAILABLE"): [{"product_code": "TSEL5"}],
        (503, "CUT_OFF"): [{"product_code": "TSEL25"}],
        (400, "INVALID_REQUEST"): [{"product_code": None}, {"destination": None}],
    }

    answers = {refusal: [error_of(sandbox.buy(**fields)) for fields in each] for refusal, each in refusals.items()}

    assert answers == {refusal: [refusal] * len(each) for refusal, each in refusals.items()}
    assert sandbox.balance() == OPENING
    listed = sandbox.products()
    assert listed["TSEL5"]["status"] == "inactive"
    assert "TSEL20" not in listed
