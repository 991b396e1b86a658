"""What the upstream itself answers in refusal: every code of its table, and 429."""

from typing import Any

import pytest

from tests.upstream.scripted_upstream import ScriptedUpstream
from tests.upstream.test_client_outcomes import buy, error, outcome, success
from upstream.client import Client
from upstream.errors import MEANINGS, ErrorCode, Kind, Misconfigured, Rejected, Unavailable

# --- The contract's table of error codes   ----------------

CONTRACT = [  # HTTP, code, whether the balance is certain to be untouched, kind
    (400, "INVALID_REQUEST", True, Rejected),
    (401, "INVALID_CREDENTIALS", True, Misconfigured),
    (401, "INVALID_SIGNATURE", True, Misconfigured),
    (402, "INSUFFICIENT_BALANCE", True, Rejected),
    (403, "API_INACTIVE", True, Misconfigured),
    (403, "ACCOUNT_NOT_VERIFIED", True, Misconfigured),
    (403, "IP_NOT_ALLOWED", True, Misconfigured),
    (404, "PRODUCT_NOT_FOUND", True, Rejected),
    (404, "TRANSACTION_NOT_FOUND", False, Rejected),
    (404, "BILL_NOT_FOUND", True, Rejected),
    (409, "DUPLICATE_REF_ID", False, Rejected),
    (409, "AMOUNT_MISMATCH", True, Rejected),
    (409, "INQUIRY_PENDING", True, Rejected),
    (409, "PRICE_CHANGED", True, Rejected),
    (410, "INQUIRY_EXPIRED", True, Rejected),
    (422, "INVALID_DESTINATION", True, Rejected),
    (422, "BILL_NOT_AVAILABLE", True, Rejected),
    (422, "BILL_ALREADY_PAID", True, Rejected),
    (429, "RATE_LIMITED", True, Rejected),
    (503, "PRODUCT_UNAVAILABLE", True, Rejected),
    (503, "CUT_OFF", True, Rejected),
]


@pytest.mark.parametrize("row", CONTRACT, ids=lambda row: row[1])
def test_every_error_code_of_the_contract_becomes_its_kind(
    upstream: ScriptedUpstream, client: Client, row: Any
) -> None:
    status, code, untouched, kind = row
    upstream.answers(status, error(status, code))

    with pytest.raises(kind) as caught:
        buy(client)

    assert caught.value.error_code is ErrorCode(code)
    if kind is Rejected:
        assert caught.value.balance_untouched is untouched
        assert (caught.value.http_status, caught.value.message) == (status, "no")


def test_the_table_of_meanings_has_exactly_the_codes_of_the_contract() -> None:
    assert {code for _, code, _, _ in CONTRACT} == set(ErrorCode) == set(MEANINGS)
    assert {code for _, code, _, kind in CONTRACT if kind is Misconfigured} == {
        code for code, meaning in MEANINGS.items() if meaning.kind is Kind.MISCONFIGURED
    }


# --- 429   ----------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [("Retry-After: 7\r\n", 7), ("", 60), ("Retry-After: soon\r\n", 60), ("Retry-After: -5\r\n", 60)],
)
def test_a_429_stops_all_sending_for_as_long_as_it_says(
    upstream: ScriptedUpstream, client: Client, headers: str, seconds: int
) -> None:
    upstream.answers(429, error(429, "RATE_LIMITED"), headers=headers)
    with pytest.raises(Rejected) as caught:
        buy(client)
    assert caught.value.retry_after == seconds

    with pytest.raises(Unavailable) as refused:
        client.balance()

    assert refused.value.reason == "budget"
    assert seconds - 5 < refused.value.retry_after <= seconds
    assert len(upstream.requests) == 1


def test_a_429_for_the_product_list_does_not_stop_sales(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(429, error(429, "RATE_LIMITED"), headers="Retry-After: 60\r\n")
    with pytest.raises(Rejected):
        client.products()
    upstream.answers(200, success())

    with pytest.raises(Unavailable):
        client.products()
    assert buy(client).data.trx_id == "T1"


def test_a_429_from_something_in_between_is_unknown_and_stops_sending_too(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(429, b"slow down", headers="Retry-After: 30\r\n")
    assert outcome(client) == "malformed: not JSON"

    with pytest.raises(Unavailable):
        buy(client)
