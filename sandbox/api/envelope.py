"""The two envelopes of the wire and every error code with its HTTP status (document, Response envelope; Errors)."""

from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """Every code that the service answers with."""

    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_CREDENTIALS = "INVALID_CREDENTIALS"
    INVALID_SIGNATURE = "INVALID_SIGNATURE"
    INSUFFICIENT_BALANCE = "INSUFFICIENT_BALANCE"
    API_INACTIVE = "API_INACTIVE"
    ACCOUNT_NOT_VERIFIED = "ACCOUNT_NOT_VERIFIED"
    IP_NOT_ALLOWED = "IP_NOT_ALLOWED"
    PRODUCT_NOT_FOUND = "PRODUCT_NOT_FOUND"
    TRANSACTION_NOT_FOUND = "TRANSACTION_NOT_FOUND"
    BILL_NOT_FOUND = "BILL_NOT_FOUND"
    DUPLICATE_REF_ID = "DUPLICATE_REF_ID"
    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    INQUIRY_PENDING = "INQUIRY_PENDING"
    PRICE_CHANGED = "PRICE_CHANGED"
    INQUIRY_EXPIRED = "INQUIRY_EXPIRED"
    INVALID_DESTINATION = "INVALID_DESTINATION"
    BILL_NOT_AVAILABLE = "BILL_NOT_AVAILABLE"
    BILL_ALREADY_PAID = "BILL_ALREADY_PAID"
    RATE_LIMITED = "RATE_LIMITED"
    PRODUCT_UNAVAILABLE = "PRODUCT_UNAVAILABLE"
    CUT_OFF = "CUT_OFF"


# code → HTTP status and the message for a person
ERRORS: dict[ErrorCode, tuple[int, str]] = {
    ErrorCode.INVALID_REQUEST: (400, "The request is not valid."),
    ErrorCode.INVALID_CREDENTIALS: (401, "The Secret ID is not known."),
    ErrorCode.INVALID_SIGNATURE: (401, "The signature is wrong."),
    ErrorCode.INSUFFICIENT_BALANCE: (402, "The balance is not sufficient."),
    ErrorCode.API_INACTIVE: (403, "The API is not activated."),
    ErrorCode.ACCOUNT_NOT_VERIFIED: (403, "The account is not verified."),
    ErrorCode.IP_NOT_ALLOWED: (403, "Requests from this IP address are not allowed."),
    ErrorCode.PRODUCT_NOT_FOUND: (404, "The product does not exist."),
    ErrorCode.TRANSACTION_NOT_FOUND: (404, "There is no transaction with this ref_id."),
    ErrorCode.BILL_NOT_FOUND: (404, "There is no bill check with this ref_id."),
    ErrorCode.DUPLICATE_REF_ID: (409, "The ref_id was used before with another request."),
    ErrorCode.AMOUNT_MISMATCH: (409, "The amount is not the total of the bill check."),
    ErrorCode.INQUIRY_PENDING: (409, "The bill check is still pending."),
    ErrorCode.PRICE_CHANGED: (409, "The price is higher than max_price."),
    ErrorCode.INQUIRY_EXPIRED: (410, "The bill check has expired."),
    ErrorCode.INVALID_DESTINATION: (422, "The destination is not valid."),
    ErrorCode.BILL_NOT_AVAILABLE: (422, "There is no bill to pay."),
    ErrorCode.BILL_ALREADY_PAID: (422, "The bill has been paid already."),
    ErrorCode.RATE_LIMITED: (429, "Too many requests."),
    ErrorCode.PRODUCT_UNAVAILABLE: (503, "The product is disturbed at the provider."),
    ErrorCode.CUT_OFF: (503, "The product is in its nightly cut-off."),
}


class ApiError(Exception):
    """A definite no of the service, to be answered in the error envelope.

    `retry_after`: whole seconds, sent as a header. `http_status` replaces the code's usual one.
    """

    def __init__(
        self,
        error_code: ErrorCode,
        message: str = "",
        *,
        retry_after: int | None = None,
        http_status: int | None = None,
    ) -> None:
        usual_status, usual_message = ERRORS[error_code]
        self.error_code: str = error_code.value
        self.http_status = http_status or usual_status
        self.message = message or usual_message
        self.retry_after = retry_after
        super().__init__(self.error_code)


class UnknownCode(ApiError):
    """A refusal whose error code is in no document, as a service grows one day."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, "Something new happened.")
        self.error_code = "WEIRD_NEW_CODE"


def success(data: dict[str, Any], message: str = "OK") -> dict[str, Any]:
    """The success envelope around `data`."""
    return {"code": 200, "status": "success", "message": message, "data": data}


def error(refusal: ApiError) -> dict[str, Any]:
    """The error envelope of a refusal."""
    return {
        "code": refusal.http_status,
        "status": "error",
        "error_code": refusal.error_code,
        "message": refusal.message,
    }
