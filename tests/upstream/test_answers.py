"""Reading an answer: whatever comes, it is a message that can be trusted or one of the documented errors."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from upstream.answers import read_answer
from upstream.errors import MEANINGS, ErrorCode, Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import MAX_AMOUNT, BillInquiry, CallbackBody, Product, Transaction, TransactionStatus
from upstream.strict_json import NotStrictJson, loads

DATA: dict[str, Any] = {
    "trx_id": "T1",
    "ref_id": "R1",
    "product_code": "P",
    "product_name": "P",
    "destination": "0812",
    "price": 50_000,
    "status": "pending",
    "sn": None,
    "message": "",
    "balance": 100,
}
INQUIRY: dict[str, Any] = {
    "ref_id": "R1",
    "product_code": "P",
    "product_name": "P",
    "destination": "0812",
    "status": "valid",
    "amount": 1,
    "admin_fee": 1,
    "penalty": 0,
    "total": 2,
    "expires_at": "2026-08-22T10:05:00+07:00",
}
PRODUCT: dict[str, Any] = {
    "product_code": "P",
    "product_name": "P",
    "category": "C",
    "brand": "B",
    "type": "prepaid",
    "price": 1,
    "admin_fee": 0,
    "status": "active",
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
# answers that are nearly right: one or two fields replaced, left out, or of another type
odd_values = json_values | st.sampled_from(["success", "failed", "R1", 50_000, 50_000.0, "50000", -1, MAX_AMOUNT + 1])
transactions = st.builds(
    lambda changes, gone: {name: value for name, value in (DATA | changes).items() if name not in gone},
    st.dictionaries(st.sampled_from(list(DATA)), odd_values, max_size=2),
    st.sets(st.sampled_from(list(DATA)), max_size=1),
)
envelopes = st.fixed_dictionaries(
    {
        "code": st.sampled_from([200, 200, 200, 400, 409, 503, "200", None]),
        "status": st.sampled_from(["success", "success", "success", "error", 1]),
        "message": odd_values,
        "data": transactions | json_values,
    },
    optional={"error_code": st.sampled_from([*MEANINGS, "NEW", None, 7])},
)
bodies = (
    st.binary(max_size=200) | json_values.map(json.dumps).map(str.encode) | envelopes.map(json.dumps).map(str.encode)
)


def read(body: bytes, http_status: int = 200) -> Transaction:
    return read_answer(http_status=http_status, body=body, model=Transaction, ref_id="R1")[0]


def ok(data: object) -> bytes:
    return json.dumps({"code": 200, "status": "success", "message": "", "data": data}).encode()


@given(body=bodies)
@example(body=ok(DATA))
@example(body=b"[" * 100_000)
@example(body=b'{"code":' + b"9" * 5000 + b"}")
@example(body=ok({**DATA, "price": float("inf")}))
def test_any_200_is_a_transaction_that_can_be_trusted_or_an_unknown_outcome(body: bytes) -> None:
    try:
        transaction = read(body)
    except OutcomeUnknown as unknown:
        assert unknown.reason.startswith("malformed: ")  # noqa: PT017 (either way is right)
        return
    assert transaction.ref_id == "R1"
    assert isinstance(transaction.status, TransactionStatus)
    for amount, least in ((transaction.price, 0), (transaction.balance, -MAX_AMOUNT)):
        assert type(amount) is int
        assert least <= amount <= MAX_AMOUNT


def test_an_account_in_debt_is_told_as_such_and_loses_no_outcome() -> None:
    assert read(ok({**DATA, "balance": -5})).balance == -5
    with pytest.raises(OutcomeUnknown, match="malformed: price"):
        read(ok({**DATA, "price": -5}))


@given(body=bodies, http_status=st.integers(100, 999).filter(lambda status: status != 200))
def test_any_other_status_is_never_a_transaction_and_a_definite_no_only_if_documented(
    body: bytes, http_status: int
) -> None:
    with pytest.raises(UpstreamError) as caught:
        read(body, http_status)

    error = caught.value
    assert isinstance(error, Rejected | Misconfigured | OutcomeUnknown)
    if not isinstance(error, OutcomeUnknown):
        envelope = json.loads(body)
        assert 400 <= http_status < 500 or (
            http_status == 503 and error.error_code in {"PRODUCT_UNAVAILABLE", "CUT_OFF"}
        )
        assert (envelope["status"], envelope["error_code"], envelope["code"]) == (
            "error",
            error.error_code,
            http_status,
        )


@pytest.mark.parametrize("http_status", [500, 502, 599])
@pytest.mark.parametrize("code", list(MEANINGS))
def test_no_error_code_is_believed_with_a_5xx_of_its_own(http_status: int, code: str) -> None:
    body = json.dumps({"code": http_status, "status": "error", "error_code": code, "message": ""}).encode()
    with pytest.raises(OutcomeUnknown):
        read(body, http_status)


@pytest.mark.parametrize("name", list(DATA))
def test_a_transaction_without_any_one_of_its_fields_is_malformed(name: str) -> None:
    with pytest.raises(OutcomeUnknown, match=f"malformed: {name}"):
        read(ok({field: value for field, value in DATA.items() if field != name}))


def test_a_text_for_people_never_costs_an_answer() -> None:
    assert read(ok({**DATA, "message": None})).message == ""
    assert len(read(ok({**DATA, "message": "x" * 5000})).message) == 1000


def test_an_empty_sn_is_no_sn() -> None:
    assert read(ok({**DATA, "sn": ""})).sn is None


@pytest.mark.parametrize(
    "change",
    [
        {"total": None},
        {"amount": None},
        {"expires_at": None},
        {"expires_at": "2026-08-22T10:05:00"},  # no offset: whose clock?
        {"expires_at": "2026-08-22"},
        {"expires_at": 1_787_000_000},
        {"total": 2.0},
        {"status": "expired"},
        {"details": [{"period": "2026-08", "amount": "1", "penalty": 0}]},
    ],
    ids=str,
)
def test_a_valid_inquiry_must_be_complete(change: dict[str, Any]) -> None:
    assert BillInquiry.model_validate(INQUIRY).total == 2
    with pytest.raises(ValidationError):
        BillInquiry.model_validate(INQUIRY | change)


@pytest.mark.parametrize("change", [{"price": "1"}, {"type": "other"}, {"status": "gone"}, {"cut_off_start": "24:30"}])
def test_a_product_with_a_doubtful_field_is_refused(change: dict[str, Any]) -> None:
    assert Product.model_validate(PRODUCT).cut_off_start is None
    with pytest.raises(ValidationError):
        Product.model_validate(PRODUCT | change)


def test_a_callback_must_agree_with_itself() -> None:
    body = {
        "event": "transaction.success",
        "timestamp": "2026-08-22T10:00:12+07:00",
        "data": {**DATA, "status": "success"},
    }
    assert CallbackBody.model_validate(body).data.ref_id == "R1"
    for change in ({"event": "transaction.failed"}, {"data": DATA}, {"timestamp": "2026-08-22T10:00:12"}):
        with pytest.raises(ValidationError):
            CallbackBody.model_validate(body | change)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{} {}",
        b'{"a":1,"a":1}',
        b'{"b":{"a":1,"a":2}}',
        b"NaN",
        b"-Infinity",
        b"1e400",
        b"12345678901234567890123",
        rb'"\u0000"',
        rb'{"\u0000":1}',
        rb'"\ud800"',
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b"[" * 40 + b"]" * 40,
        b'{"a":' * 40 + b"1" + b"}" * 40,
    ],
    ids=lambda body: str(body[:30]),
)
def test_ambiguous_or_unstorable_json_is_refused(body: bytes) -> None:
    with pytest.raises(NotStrictJson):
        loads(body)


def test_ordinary_json_is_read_and_floats_can_be_refused() -> None:
    body = '{"a":[1,-2,1.5,true,null,"é😀\\n"]}'.encode()
    assert loads(body) == {"a": [1, -2, 1.5, True, None, "é😀\n"]}
    with pytest.raises(NotStrictJson):
        loads(body, floats=False)


@pytest.mark.parametrize(
    "error",
    [
        Rejected(ErrorCode.CUT_OFF, message="m", http_status=503),
        Unavailable("budget", 1.5),
        OutcomeUnknown("timeout"),
        Misconfigured("m", ErrorCode.API_INACTIVE),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error: UpstreamError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
