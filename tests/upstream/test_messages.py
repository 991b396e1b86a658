"""The shapes of the upstream's messages are strict wherever money depends on them."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.upstream.helpers import INQUIRY, PRODUCT, TRANSACTION
from upstream.messages import BillInquiry, CallbackBody, Message, Product


def refused(model: type[Message], message: dict[str, Any]) -> bool:
    try:
        model.model_validate(message)
    except ValidationError:
        return True
    return False


def test_a_bill_must_be_complete() -> None:
    changes: list[dict[str, Any]] = [
        {"total": None},
        {"amount": None},
        {"expires_at": None},
        {"expires_at": "2026-08-22T10:05:00"},  # no offset, so the clock is unknown
        {"expires_at": "2026-08-22"},
        {"expires_at": 1_787_000_000},
        {"total": 2.0},
        {"status": "paid"},
        {"details": [{"period": "2026-08", "amount": "1", "penalty": 0}]},
    ]
    for status in ("valid", "expired"):
        bill = INQUIRY | {"status": status}
        assert BillInquiry.model_validate(bill).total == 152_500
        assert [change for change in changes if not refused(BillInquiry, bill | change)] == []


@pytest.mark.parametrize("change", [{"price": "1"}, {"type": "other"}, {"status": "gone"}, {"cut_off_start": "24:30"}])
def test_a_product_with_a_doubtful_field_is_refused(change: dict[str, Any]) -> None:
    assert Product.model_validate(PRODUCT).cut_off_end is None
    with pytest.raises(ValidationError):
        Product.model_validate(PRODUCT | change)


def test_a_callback_must_agree_with_itself() -> None:
    body = {
        "event": "transaction.success",
        "timestamp": "2026-08-22T10:00:12+07:00",
        "data": {**TRANSACTION, "status": "success"},
    }
    assert CallbackBody.model_validate(body).data.ref_id == "R1"
    for change in ({"event": "transaction.failed"}, {"data": TRANSACTION}, {"timestamp": "2026-08-22T10:00:12"}):
        assert refused(CallbackBody, body | change), change
