"""The table of error codes is complete, in both languages, and never leaves the money in doubt."""

import json

import pytest
from django.utils import translation

from tests.upstream.helpers import error
from upstream.error_codes import MEANINGS, ErrorCode, Meaning, Next, OwnCode, Step, meaning_of
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, UpstreamError
from upstream.messages import Transaction
from upstream.replies import read_reply

# HTTP status, code, and the order's move (or why it needs action). A changed row is a decision about money:
# change it here too.
CONTRACT: list[tuple[int, str, str]] = [
    (400, "INVALID_REQUEST", Next.REJECT),
    (401, "INVALID_CREDENTIALS", Next.STOP),
    (401, "INVALID_SIGNATURE", Next.STOP),
    (402, "INSUFFICIENT_BALANCE", "balance_short"),
    (403, "API_INACTIVE", Next.STOP),
    (403, "ACCOUNT_NOT_VERIFIED", Next.STOP),
    (403, "IP_NOT_ALLOWED", Next.STOP),
    (404, "PRODUCT_NOT_FOUND", Next.REJECT),
    (404, "TRANSACTION_NOT_FOUND", Next.ASK_STATUS),
    (404, "BILL_NOT_FOUND", Next.REJECT),
    (409, "DUPLICATE_REF_ID", Next.ASK_STATUS),
    (409, "AMOUNT_MISMATCH", "amount_mismatch"),
    (409, "INQUIRY_PENDING", Next.WAIT_READY),
    (409, "PRICE_CHANGED", "price_changed"),
    (410, "INQUIRY_EXPIRED", Next.REJECT),
    (422, "INVALID_DESTINATION", Next.REJECT),
    (422, "BILL_NOT_AVAILABLE", Next.REJECT),
    (422, "BILL_ALREADY_PAID", Next.REJECT),
    (429, "RATE_LIMITED", Next.TRY_AGAIN),
    (503, "PRODUCT_UNAVAILABLE", "unavailable"),
    (503, "CUT_OFF", "cut_off"),
]


def refused(http_status: int, code: str) -> UpstreamError:
    """The result of a refusal with this status and code."""
    body = json.dumps(error(http_status, code)).encode()
    with pytest.raises(UpstreamError) as caught:
        read_reply(http_status=http_status, body=body, model=Transaction, ref_id="R1")
    return caught.value


def test_every_code_has_a_row_and_every_row_a_code() -> None:
    assert {code for _, code, _ in CONTRACT} == set(ErrorCode)
    assert set(MEANINGS) == {*ErrorCode, *OwnCode}


def test_a_code_leads_to_its_one_move() -> None:
    for http_status, code, move in CONTRACT:
        meaning = meaning_of(code)
        assert (meaning.action_reason or meaning.next) == move, code
        assert (meaning.next is Next.NEEDS_ACTION) is bool(meaning.action_reason), code

        answer = refused(http_status, code)

        assert isinstance(answer, Misconfigured if move == Next.STOP else Rejected), code
        assert answer.error_code is ErrorCode(code)
        assert answer.raw == error(http_status, code)
        if isinstance(answer, Rejected):
            assert answer.balance_untouched is (move != Next.ASK_STATUS), code
            assert (answer.http_status, answer.message) == (http_status, "no"), code


def test_a_code_without_a_row_or_of_our_own_from_the_wire_leaves_the_outcome_unknown() -> None:
    for own in OwnCode:
        assert isinstance(refused(422, own), OutcomeUnknown), own
    for code in ("", "NEW_CODE", "cut_off"):
        assert meaning_of(code).next is Next.ASK_STATUS, code
        assert not meaning_of(code).balance_untouched, code


def test_every_row_and_step_has_words_in_both_languages() -> None:
    def texts() -> list[str]:
        rows = [text for row in [*MEANINGS.values(), meaning_of("")] for text in (row.words, row.brief)]
        return [str(text) for text in [*rows, *Step.labels]]

    with translation.override("en"):
        english = texts()
    with translation.override("id"):
        indonesian = texts()

    assert all(english)
    assert [text for text, translated in zip(english, indonesian, strict=True) if text == translated] == []


def test_a_low_balance_asks_no_cashier_to_top_up() -> None:
    assert meaning_of(ErrorCode.INSUFFICIENT_BALANCE).step is Step.AFTER_TOP_UP


def test_only_a_row_that_rejects_sends_the_customer_away() -> None:
    ends: set[Step] = {Step.NOTHING_TO_DO, Step.CORRECT_NUMBER, Step.CHOOSE_ANOTHER, Step.CHECK_AGAIN}
    wrong: list[Meaning] = [row for row in MEANINGS.values() if (row.step in ends) is not (row.next is Next.REJECT)]
    assert wrong == []
