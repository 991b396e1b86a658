"""An answer is always read as a trustworthy message or as one of the documented errors."""

import itertools
import json
import pickle

import pytest
from hypothesis import example, given, strategies as st

from tests.upstream.helpers import TRANSACTION, bought, error
from upstream.error_codes import MEANINGS, ErrorCode
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import MAX_AMOUNT, Transaction, TransactionStatus
from upstream.replies import read_reply

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
# answers that are nearly right: one or two fields replaced, left out, or of another type
odd_values = json_values | st.sampled_from(["success", "failed", "R1", 50_000, 50_000.0, "50000", -1, MAX_AMOUNT + 1])
transactions = st.builds(
    lambda changes, gone: {name: value for name, value in (TRANSACTION | changes).items() if name not in gone},
    st.dictionaries(st.sampled_from(list(TRANSACTION)), odd_values, max_size=2),
    st.sets(st.sampled_from(list(TRANSACTION)), max_size=1),
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


def read(payload: object, http_status: int = 200) -> Transaction:
    """Read an answer to the purchase "R1" from its JSON, or from its bytes."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return read_reply(http_status=http_status, body=body, model=Transaction, ref_id="R1")[0]


@given(body=bodies)
@example(body=json.dumps(bought()).encode())
@example(body=b"[" * 100_000)
@example(body=b'{"code":' + b"9" * 5000 + b"}")
@example(body=json.dumps(bought(price=float("inf"))).encode())
def test_any_200_can_be_trusted_or_is_an_unknown_outcome(body: bytes) -> None:
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


def test_a_balance_may_be_below_zero_and_a_price_may_not() -> None:
    assert read(bought(balance=-5)).balance == -5
    with pytest.raises(OutcomeUnknown, match="malformed: price"):
        read(bought(price=-5))


def unknown(payload: object, http_status: int = 200) -> str:
    """Why the outcome is unknown after this answer; asserts that a JSON object is kept for the record."""
    with pytest.raises(OutcomeUnknown) as caught:
        pytest.fail(f"{payload!r:.100} is read as {read(payload, http_status)}")
    assert caught.value.raw == (payload if isinstance(payload, dict) else None)
    return caught.value.reason


def test_a_200_that_does_not_fit_together_is_unknown() -> None:
    answers: list[tuple[object, str]] = [
        (b"", "malformed: not JSON"),
        (b'{"code":200,', "malformed: not JSON"),
        (b"\xff", "malformed: not UTF-8"),
        (b"[" * 100_000, "malformed: nested too deep"),
        ([], "malformed: envelope"),
        (bought(ref_id="R2"), "malformed: ref_id"),
        (bought(price=50_000.0), "malformed: price"),
        (bought(price=50_000.5), "malformed: price"),
        (bought(price="50000"), "malformed: price"),
        (bought(price=True), "malformed: price"),
        (bought(price=-1), "malformed: price"),
        (bought(balance=None), "malformed: balance"),
        (bought(status="Success"), "malformed: status"),
        (bought(status="refunded"), "malformed: status"),
        ({**bought(), "code": 500}, "malformed: code"),
        ({**bought(), "status": "error"}, "malformed: status"),
        ({**bought(), "data": None}, "malformed: data"),
        (error(200, "INSUFFICIENT_BALANCE"), "malformed: status"),
    ]
    for payload, reason in answers:
        assert unknown(payload) == reason, str(payload)[:200]


FOR_PEOPLE = {"product_name": "", "message": "", "sn": None}


def test_a_transaction_without_a_field_of_the_money_is_malformed() -> None:
    for name in TRANSACTION.keys() - FOR_PEOPLE.keys():
        absent = {field: value for field, value in TRANSACTION.items() if field != name}
        for transaction in (absent, TRANSACTION | {name: None}):
            assert unknown({**bought(), "data": transaction}).startswith(f"malformed: {name}")


def test_a_transaction_without_its_texts_is_read() -> None:
    for status in TransactionStatus:
        absent = {name: value for name, value in TRANSACTION.items() if name not in FOR_PEOPLE} | {"status": status}
        for transaction in (absent, absent | dict.fromkeys(FOR_PEOPLE)):
            answer = read({**bought(), "data": transaction})
            assert answer.model_dump(include=set(FOR_PEOPLE)) == FOR_PEOPLE, status
    assert read(bought(message=None)).message == ""
    assert len(read(bought(message="x" * 5000)).message) == 1000
    assert read(bought(sn="")).sn is None


def test_words_of_another_type_cost_no_answer_and_no_refusal() -> None:
    for words in (0, 1.5, True, [], ["odd"], {"id": "berhasil", "en": "success"}):
        answer = read({**bought(message=words, product_name=words), "message": words})
        assert (answer.message, answer.product_name, answer.price) == ("", "", 10_250), words

        with pytest.raises(Rejected) as caught:
            read({**error(402, "INSUFFICIENT_BALANCE"), "message": words}, 402)
        assert (caught.value.error_code, caught.value.message) == ("INSUFFICIENT_BALANCE", ""), words


def test_an_sn_that_is_a_number_is_read_as_its_digits() -> None:
    assert read(bought(status="success", sn=1234567890123456789)).sn == "1234567890123456789"
    for sn in (1.5, True, -1, [], {}):
        with pytest.raises(OutcomeUnknown, match="malformed: sn"):
            read(bought(status="success", sn=sn))


# --- Refusals ----------------


def test_an_error_that_is_not_the_documented_envelope_is_unknown() -> None:
    answers: list[tuple[int, object, str]] = [
        (500, error(500, "INVALID_REQUEST"), "http_500"),
        (502, b"<html>", "http_502"),
        (503, b"<html>", "http_503"),
        (503, error(503, "INSUFFICIENT_BALANCE"), "http_503"),
        (503, error(503, "NEW_CODE"), "http_503"),
        (504, b"", "http_504"),
        (400, b"<html>", "malformed: not JSON"),
        (404, b"<html>", "malformed: not JSON"),
        (400, error(400, "NEW_CODE"), "unknown_code: NEW_CODE"),
        (400, error(400, "<script>"), "unknown_code: ?"),
        (400, error(400, None), "malformed: error_code"),
        (402, error(409, "INSUFFICIENT_BALANCE"), "malformed: code"),
        (402, bought(), "malformed: status"),
        (201, bought(), "malformed: http_201"),
    ]
    for status, payload, reason in answers:
        assert unknown(payload, status) == reason, (status, payload)


def test_a_refusal_with_an_unknown_code_keeps_what_the_upstream_said() -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        read(error(422, "NO_SUCH_CUSTOMER"), 422)
    assert (caught.value.said_code, caught.value.said) == ("NO_SUCH_CUSTOMER", "no")


@given(body=bodies, http_status=st.integers(100, 999).filter(lambda status: status != 200))
def test_any_other_status_is_a_no_only_if_documented(body: bytes, http_status: int) -> None:
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


def test_no_error_code_is_believed_with_a_5xx_of_its_own() -> None:
    for http_status, code in itertools.product((500, 502, 599), MEANINGS):
        assert unknown(error(http_status, code), http_status) == f"http_{http_status}", code


def test_errors_survive_pickling() -> None:
    for fault in (
        Rejected(ErrorCode.CUT_OFF, message="m", http_status=503),
        Unavailable("budget", 1.5),
        OutcomeUnknown("timeout"),
        Misconfigured("m", ErrorCode.API_INACTIVE),
    ):
        copy = pickle.loads(pickle.dumps(fault))  # noqa: S301 (our own bytes)
        assert (type(copy), str(copy), vars(copy)) == (type(fault), str(fault), vars(fault))
